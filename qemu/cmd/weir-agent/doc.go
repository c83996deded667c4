// Command weir-agent is the lab's half in a guest. Without arguments it serves
// the host over the virtio serial port weir.lab. With arguments it is a small
// tool that sets what the tests of the policy fall-back need and that the image
// has no command for.
package main
