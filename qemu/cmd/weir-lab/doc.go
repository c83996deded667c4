// Command weir-lab boots Weir's images in an isolated lab and works with them:
//
//	weir-lab demo         show that an image forwards (make demo)
//	weir-lab qemu         the same machine with a console to play with (make qemu)
//	weir-lab guest-test   test forwarding in a guest
//	weir-lab faults       show in a guest that nothing brings the machine down
//	weir-lab gotest       run the project's unit tests in a guest
package main
