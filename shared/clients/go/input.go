package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// Bytes that the large values of one input may have together.
	inputBytesMax = 8 * 1024 * 1024
	answerWait    = 5 * time.Second
)

// whole is an input with the large values themselves. Where a message could not carry one, an object
// stands for it: {"$payload": "sha256-…", "bytes": 600000}.
func whole(ctx context.Context, nc *nats.Conn, input json.RawMessage) (json.RawMessage, error) {
	left := inputBytesMax
	filled, err := fill(ctx, New(nc), input, &left)
	if err == nil {
		return filled, nil
	}
	// What is gone or too large does not come with another attempt.
	var problem *RequestError
	isFinal := errors.As(err, &problem) && problem.Status >= 400 && problem.Status < 500
	return nil, &Failure{Type: "InputUnavailable", Title: "a large value of the input cannot be read",
		Detail: err.Error(), Retryable: !isFinal}
}

func fill(ctx context.Context, c *Client, value json.RawMessage, left *int) (_ json.RawMessage, err error) {
	if !bytes.Contains(value, []byte(`"$payload"`)) {
		return value, nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) == nil {
		if hash := payloadOf(members); hash != "" {
			asking, stop := context.WithTimeout(ctx, answerWait)
			defer stop()
			data, err := c.Payload(asking, hash, *left)
			if err == nil && !json.Valid(data) {
				err = &RequestError{422, "Unreadable", "the payload " + hash + " is no JSON"}
			}
			*left -= len(data)
			return data, err
		}
		for name, member := range members {
			if members[name], err = fill(ctx, c, member, left); err != nil {
				return nil, err
			}
		}
		return json.Marshal(members)
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) != nil {
		return value, nil
	}
	for i, item := range items {
		if items[i], err = fill(ctx, c, item, left); err != nil {
			return nil, err
		}
	}
	return json.Marshal(items)
}

// payloadOf is the payload with the value for which an object stands; "" if it stands for none.
func payloadOf(members map[string]json.RawMessage) (hash string) {
	var size uint64
	isIt := json.Unmarshal(members["$payload"], &hash) == nil && strings.HasPrefix(hash, "sha256-") &&
		(len(members) == 1 || len(members) == 2 && json.Unmarshal(members["bytes"], &size) == nil)
	if !isIt {
		return ""
	}
	return hash
}
