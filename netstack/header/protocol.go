package header

// Protocol and next-header numbers (IANA "Assigned Internet Protocol Numbers").
const (
	ProtoHopByHop = 0 // IPv6 extension header (RFC 8200, 4.3)
	ProtoICMP     = 1
	ProtoTCP      = 6
	ProtoUDP      = 17
	ProtoRouting  = 43 // IPv6 extension header (RFC 8200, 4.4)
	ProtoFragment = 44 // IPv6 extension header (RFC 8200, 4.5)
	ProtoESP      = 50
	ProtoAH       = 51 // IPv6 extension header (RFC 4302)
	ProtoICMPv6   = 58
	ProtoNoNext   = 59
	ProtoDestOpts = 60  // IPv6 extension header (RFC 8200, 4.6)
	ProtoMobility = 135 // IPv6 extension header (RFC 6275, 6.1)
	ProtoHIP      = 139 // IPv6 extension header (RFC 7401, 5.1)
	ProtoShim6    = 140 // IPv6 extension header (RFC 5533, 5.1)
)
