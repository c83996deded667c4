// Package handoff passes frames from one worker to another that owns the TX
// queue: for a port with fewer TX queues than there are workers.
//
// A Link is one direction between two workers, each with frames of its own. The
// receiving worker lends empty frames to the sending one through one
// single-producer ring and gets them back full through a second: one copy, no
// lock, no allocation, and every frame returns to the memory it is of. Frames
// keep their order. Sender is called by the sending worker's thread alone,
// Receiver by the receiving one's. Nothing here decides about a frame.
package handoff
