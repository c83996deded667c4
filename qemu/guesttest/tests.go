package guesttest

// tests in the order they run: the later ones trust the earlier.
var tests = []test{
	{"Boot", boot},
	{"Forward", forward},
	{"ForwardBack", forwardBack},
	{"RouterItself", routerItself},
	{"Fragments", fragments},
	{"Options", options},
	{"TTLExpires", ttlExpires},
	{"PacketTooBig", packetTooBig},
	{"MulticastStays", multicastStays},
	{"NeighbourUnknown", neighbourUnknown},
	{"HostOffloads", hostOffloads},
	{"NftablesDrop", nftablesDrop},
	{"IPRule", ipRule},
	{"RPFilter", rpFilter},
	{"TCFilter", tcFilter},
	{"ForwardingOff", forwardingOff},
	{"ShapedPort", shapedPort},
	{"XFRMPolicy", xfrmPolicy},
	{"ForwarderKilled", forwarderKilled},
}
