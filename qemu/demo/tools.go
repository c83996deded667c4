package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"weir/qemu/lab"
)

var (
	pingTTL   = regexp.MustCompile(`(?m)ttl=(\d+)`)
	pingCount = regexp.MustCompile(`(\d+) packets transmitted, (\d+) received`)
	pingRTT   = regexp.MustCompile(`= [0-9.]+/([0-9.]+)/`)
)

// ping runs iputils' ping from a host. Lost packets are a figure, no error.
func ping(ctx context.Context, from *lab.Host, family int, to string, count int) (Ping, error) {
	out, err := from.Run(ctx, "ping", "-n", "-"+strconv.Itoa(family), "-c", strconv.Itoa(count), "-i", "0.1", "-W", "2", to)
	p, perr := parsePing(out)
	if perr != nil {
		return p, errors.Join(perr, err)
	}
	p.Family, p.To = family, to
	return p, nil
}

func parsePing(out string) (Ping, error) {
	var p Ping
	m := pingCount.FindStringSubmatch(out)
	if m == nil {
		return p, fmt.Errorf("ping printed no count:\n%s", out)
	}
	p.Sent, _ = strconv.Atoi(m[1])
	p.Received, _ = strconv.Atoi(m[2])
	for _, t := range pingTTL.FindAllStringSubmatch(out, -1) {
		if n, err := strconv.Atoi(t[1]); err == nil && !slices.Contains(p.TTL, n) {
			p.TTL = append(p.TTL, n)
		}
	}
	if r := pingRTT.FindStringSubmatch(out); r != nil {
		p.RTT = r[1]
	}
	return p, nil
}

// iperfServer runs one test's server until stop is called. Each test has its
// own: between two tests iperf3 closes its socket, and refuses who is early.
func iperfServer(ctx context.Context, at *lab.Host) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	out := &lockedBuffer{}
	ended, err := at.Start(ctx, out, "iperf3", "-s", "-1", "--forceflush")
	if err != nil {
		cancel()
		return nil, err
	}
	limit := time.After(20 * time.Second)
	for !strings.Contains(out.String(), "Server listening") {
		select {
		case err := <-ended:
			cancel()
			return nil, fmt.Errorf("iperf3 -s ended: %w\n%s", err, out)
		case <-limit:
			cancel()
			<-ended
			return nil, fmt.Errorf("iperf3 -s does not listen\n%s", out)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return func() { cancel(); <-ended }, nil
}

// IperfRun measures from the client's side; i says what, and comes back with
// the figures filled in.
func IperfRun(ctx context.Context, client, server *lab.Host, i Iperf, seconds int) (Iperf, error) {
	stop, err := iperfServer(ctx, server)
	if err != nil {
		return i, err
	}
	defer stop()
	to := server.Addr[(i.Family-4)/2].Addr().String()
	args := []string{"iperf3", "-J", "-c", to, "-t", strconv.Itoa(seconds), "--connect-timeout", "5000"}
	if i.Protocol == "UDP" {
		// 1200 bytes fit any path; the default takes the TCP MSS, which is odd.
		args = append(args, "-u", "-l", "1200", "-b", fmt.Sprintf("%gM", i.Asked))
	}
	if i.Direction == ToClient {
		args = append(args, "-R")
	}
	// A connection that stalls would keep iperf3 for minutes.
	limit := time.Duration(seconds)*time.Second + 20*time.Second
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done after %v", limit))
	defer cancel()
	out, err := client.Run(ctx, args...)
	if err != nil {
		return i, err
	}
	return parseIperf(out, i)
}

func parseIperf(out string, i Iperf) (Iperf, error) {
	var j struct {
		Error string
		End   struct {
			Sum struct {
				BPS     float64 `json:"bits_per_second"`
				Lost    int     `json:"lost_packets"`
				Packets int     `json:"packets"`
			} `json:"sum"`
			Received struct {
				BPS float64 `json:"bits_per_second"`
			} `json:"sum_received"`
		}
	}
	if err := json.Unmarshal([]byte(out), &j); err != nil {
		return i, fmt.Errorf("iperf3 -J: %w\n%s", err, out)
	}
	if j.Error != "" {
		return i, fmt.Errorf("iperf3: %s", j.Error)
	}
	i.Mbits = j.End.Received.BPS / 1e6
	if i.Protocol == "UDP" {
		i.Packets, i.Lost = j.End.Sum.Packets, j.End.Sum.Lost
		if i.Mbits == 0 {
			i.Mbits = j.End.Sum.BPS / 1e6
		}
	}
	return i, nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
