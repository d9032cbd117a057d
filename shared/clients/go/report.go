package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

const (
	// The object store of values that no message carries.
	payloadsStore = "staunch_payloads"
	// A part of an object, unless a message of this NATS carries less.
	objectPartBytes = 128 * 1024
	// The largest result of a task, as JSON: no workflow could read a larger one.
	resultBytesMax = 8 * 1024 * 1024
	// How long one try to write an object may take, and how long it is tried again.
	putWait    = 30 * time.Second
	tryingWait = 120 * time.Second
	// What to look at where an object is never stored: a refused message has no answer.
	objectsHint = "a user of NATS puts objects only if its permissions were printed with --with-objects (staunch worker creds)"
)

// report is what a worker says about an attempt: a body, and the object that has the result, where the
// body has none.
type report struct {
	body   []byte
	object string
}

// result is the report about a result, which is an object where no message carries it.
func (h *handler) result(ctx context.Context, js jetstream.JetStream, task Task[json.RawMessage], output any) (report, error) {
	value, err := json.Marshal(output)
	if err != nil {
		return report{}, &Failure{Type: "ResultUnfit", Title: "the result is not JSON", Detail: err.Error()}
	}
	// What is JSON already, and numbers, always have a form in JSON.
	body, _ := json.Marshal(object{"attempt": task.Attempt, "output": json.RawMessage(value)})
	if len(body) <= bodyBytesMax(h.nc.MaxPayload()) {
		return report{body: body}, nil
	}
	if len(value) > resultBytesMax {
		title := fmt.Sprintf("the result has %d bytes, more than the %d that a result may have", len(value), resultBytesMax)
		return report{}, &Failure{Type: "ResultTooLarge", Title: title, Detail: "keep large data elsewhere and return a reference to it"}
	}
	// The name says what is in it: an object that somebody has replaced is not taken for this one.
	name := fmt.Sprintf("tasks/%s/%d/sha256-%x", Token(task.ID), task.Attempt, sha256.Sum256(value))
	err = h.stored(ctx, js, name, value)
	if err != nil {
		return report{}, err
	}
	body, _ = json.Marshal(object{"attempt": task.Attempt})
	return report{body, name}, nil
}

// stored writes an object with this name until it is stored, nobody wants it any more, or it has been
// tried for long.
func (h *handler) stored(ctx context.Context, js jetstream.JetStream, name string, value []byte) error {
	begun := time.Now()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, retryWaitMax) {
		putting, stop := context.WithTimeout(ctx, putWait)
		err := h.put(putting, js, name, value)
		stop()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return err
		case time.Since(begun) > tryingWait:
			return &Failure{Type: "ResultNotStored", Title: "the result is larger than a message, and its object is not stored",
				Detail: "the object store " + payloadsStore + ": " + err.Error() + "; " + objectsHint, Retryable: true}
		}
		h.log.Warn("a large result is not stored yet", "object", name, "type", h.name(), "error", err)
		pause(ctx, wait)
	}
}

// put writes an object. This is what a client of object stores does, and needs no right but to publish its
// parts and what says of them.
func (h *handler) put(ctx context.Context, js jetstream.JetStream, name string, value []byte) error {
	id := nuid.Next()
	size := fitting(objectPartBytes, h.nc.MaxPayload())
	if size <= 0 {
		return errors.New("a message of this NATS carries no part of an object")
	}
	parts := 0
	for at := 0; at < len(value); at += size {
		part := value[at:min(at+size, len(value))]
		if _, err := js.Publish(ctx, "$O."+payloadsStore+".C."+id, part); err != nil {
			return err
		}
		parts++
	}
	digest := sha256.Sum256(value)
	about, err := json.Marshal(object{
		"name": name, "bucket": payloadsStore, "nuid": id, "size": len(value), "chunks": parts,
		"options": object{"max_chunk_size": size},
		"digest":  "SHA-256=" + base64.URLEncoding.EncodeToString(digest[:]),
	})
	if err != nil {
		return err
	}
	message := nats.NewMsg("$O." + payloadsStore + ".M." + base64.URLEncoding.EncodeToString([]byte(name)))
	message.Data = about
	message.Header.Set("Nats-Rollup", "sub")
	_, err = js.PublishMsg(ctx, message)
	return err
}
