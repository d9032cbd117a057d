// Package client has workers and clients of Staunch, durable workflows on NATS.
package client

import (
	"fmt"
	"strings"
)

const (
	version     = "0.1.0"
	tasksStream = "STAUNCH_TASKS"
	// A larger command is refused, however large a message of this NATS may be.
	commandBytesMax = 512 * 1024
	// What the subject and the headers of a command take at most of the broker's max_payload.
	headerBytes = 2 * 1024
)

// Token writes a name as one token of a subject.
func Token(name string) string {
	var out strings.Builder
	for _, b := range []byte(name) {
		switch {
		case b >= 'A' && b <= 'Z', b >= 'a' && b <= 'z', b >= '0' && b <= '9', b == '_', b == '-':
			out.WriteByte(b)
		default:
			fmt.Fprintf(&out, "=%02X", b)
		}
	}
	if out.Len() == 0 {
		return "="
	}
	return out.String()
}

// dotted writes the name of an event: its dots separate tokens, unless one would be empty.
func dotted(name string) string {
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if part == "" {
			return Token(name)
		}
		parts[i] = Token(part)
	}
	return strings.Join(parts, ".")
}

func bodyBytesMax(maxPayload int64) int {
	return fitting(commandBytesMax, maxPayload)
}

// fitting is this many bytes, or what fits into a message of this NATS beside its headers.
func fitting(bytes, maxPayload int64) int {
	return int(min(bytes, maxPayload-headerBytes))
}
