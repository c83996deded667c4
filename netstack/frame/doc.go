// Package frame is the vocabulary of the packet path: a Frame, a Batch of
// them, the Verdict on each and the Reason for it. Start reading here.
//
// It holds values only and imports nothing but the standard library; every
// package that touches frames, drivers included, may import it. A Batch
// belongs to one worker and is not safe for concurrent use. Nothing that
// parses, looks up or does I/O may be added here.
package frame
