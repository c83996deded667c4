package port

var PlaceIn = place
