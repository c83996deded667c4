package version

// Version is the version of this build, for example "0.1.0".
var Version = "devel"
