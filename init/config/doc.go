// Package config is weir.toml: its Go shape, strict parsing, and validation that
// reports every fault of a file at once, each with line, column, key and remedy.
//
// Parse is pure: the same verdict on the device, in `weir config check` on a
// workstation and in tests. What the file cannot know (does the port exist,
// what MTU can its driver do) is judged where it is applied, by drivers/port.
// Nothing that asks the machine, and no default that depends on one, may be
// added here. It imports no other package of Weir's, and its functions may be
// called concurrently.
//
// # The schema
//
// What can be written today:
//
//	hostname = "gw"                  # RFC 1123, at most 64 characters; left out: the board's
//
//	[[port]]                         # one Ethernet port, at least one, at most 64
//	match   = { mac = "52:54:00:00:00:01" }    # exactly one of:
//	        # { pci = "0000:00:01.0" }         #   domain:bus:device.function
//	        # { dt = "/cp0/ethernet@0/eth1" }  #   path of its device-tree node
//	label   = "wan"                  # its name: 1 to 15 of a-z 0-9 _ . -, first a letter
//	mtu     = 1500                   # 68 to 65535, from 1280 with IPv6; left out: the driver's
//	tier    = "auto"                 # the highest tier: auto, xdp, afxdp, afpacket, kernel
//	address = ["203.0.113.2/24", "2001:db8:1::2/64"]
//	forward = true                   # forward what arrives here; left out: true
//
//	[[route]]                        # a static route; via, port or both
//	to   = "0.0.0.0/0"
//	via  = "203.0.113.1"             # a router; of the destination's IP version
//	port = "wan"                     # needed without via, with a link-local via, and with
//	                                 # one that is in no port's network
//
// What is drawn, to join later, each in its own file with a reader that takes
// its keys and a check against the others:
//
//	[[vlan]]                         # an interface on a port: label, mtu, address, forward as there
//	port = "lan"
//	id   = 20                        # 1 to 4094; ids that the board keeps for itself are faults
//
//	[zone.NAME]                      # ports of one trust, and what may pass to other zones
//	ports = ["lan", "guest"]
//
//	[vxlan.NAME]                     # a tunnel interface: mtu, address, forward as a port
//	vni    = 100
//	local  = "203.0.113.2"
//	remote = ["198.51.100.2"]
//
//	[service.NAME]                   # dhcp, dns, ssh…: what runs, and on which ports
//	ports = ["lan"]
//
// Rules that hold for all of it. Interfaces of every kind share one space of
// labels and are referred to by label. Words mean the same in every table
// (address, mtu, forward, port). What is a list of equals is [[name]]; what has a
// name of its own and no order is [kind.NAME]. Left out means the usual; there is
// no way to write "unset". Numbers are in the unit of the standard that defines
// them, and no unit is in a key.
//
// # Choices
//
// Two ports may not share or overlap a network, at any prefix lengths: the hosts
// of the wider one that lie in the narrower could not be reached. A single
// address (/32, /128) of one port may lie in another's network, and link-local
// networks are each link's own. A network's first and last IPv4 addresses are no
// host's up to /30, and an IPv6 network's first one up to /126.
package config
