// Package snaptest makes Snapshots and frames for tests: a Builder that reads
// like a small network plan, and a grammar of random frames, valid, odd and
// broken. Only tests import it. It decides nothing: what is right is each test's
// own business.
package snaptest
