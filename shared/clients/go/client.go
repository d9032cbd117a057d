package client

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Client starts, resumes, signals, asks and follows instances, over NATS alone.
type Client struct{ nc *nats.Conn }

// New is a client over a connection. Each call ends with its context.
func New(nc *nats.Conn) *Client { return &Client{nc} }

// Outcome is what became of a command.
type Outcome struct {
	InstanceID string                     `json:"workflowInstanceId"`
	SubStatus  string                     `json:"subStatus"`
	Refusal    string                     `json:"refusal"`
	Message    string                     `json:"message"`
	Output     map[string]json.RawMessage `json:"output"`
	Incidents  []string                   `json:"incidents"`
	Bookmarks  []string                   `json:"bookmarks"`
	Affected   *uint64                    `json:"affected"`
}

// Event is one event of an instance: started, suspended, finished, faulted or cancelled.
type Event struct {
	Name         string                     `json:"-"`
	InstanceID   string                     `json:"workflowInstanceId"`
	DefinitionID string                     `json:"definitionId"`
	SubStatus    string                     `json:"subStatus"`
	Version      int64                      `json:"version"`
	Output       map[string]json.RawMessage `json:"output"`
	Incidents    []string                   `json:"incidents"`
}

// Instance is an instance as it is. State is its workflow state in full.
type Instance struct {
	ID           string                     `json:"id"`
	DefinitionID string                     `json:"definitionId"`
	SubStatus    string                     `json:"subStatus"`
	Version      int64                      `json:"version"`
	Output       map[string]json.RawMessage `json:"output"`
	Incidents    []string                   `json:"incidents"`
	Bookmarks    []Bookmark                 `json:"bookmarks"`
	State        json.RawMessage            `json:"workflowState"`
}

// Bookmark is a place where an instance waits.
type Bookmark struct {
	ID         string          `json:"id"`
	Name       string          `json:"name"`
	ActivityID string          `json:"activityId"`
	Payload    json.RawMessage `json:"payload"`
}

// RequestError is a request that was answered with a problem. Status is that of HTTP.
type RequestError struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

func (e *RequestError) Error() string { return e.Title + ": " + e.Detail }

// Refused is a command that changed nothing.
type Refused struct{ Outcome Outcome }

func (e *Refused) Error() string { return e.Outcome.Refusal + ": " + e.Outcome.Message }

// Start has what a start may say beyond its input.
type Start struct {
	// A start that says it happens once: a repeated one is Refused as alreadyDone.
	InstanceID    string
	CorrelationID string
	// The outcome comes when the instance waits or is over, not when its first burst is committed.
	Settled bool
}

// Start starts an instance.
func (c *Client) Start(ctx context.Context, definition string, input any, how Start) (Outcome, error) {
	body := object{"input": orEmpty(input)}
	body.set("instanceId", how.InstanceID)
	body.set("correlationId", how.CorrelationID)
	return c.command(ctx, "start."+Token(definition), body, how.Settled)
}

// Resume resumes an instance at a bookmark, which may be "" where there is one alone.
func (c *Client) Resume(ctx context.Context, instance, bookmark string, input any) (Outcome, error) {
	body := object{"input": orEmpty(input)}
	body.set("bookmarkId", bookmark)
	return c.command(ctx, "resume."+Token(instance), body, false)
}

// Cancel cancels an instance.
func (c *Client) Cancel(ctx context.Context, instance, reason string) (Outcome, error) {
	body := object{}
	body.set("reason", reason)
	return c.command(ctx, "cancel."+Token(instance), body, false)
}

// Signal has what an event may say beyond its payload.
type Signal struct{ InstanceID, CorrelationID, ID string }

// Signal publishes an event. When it returns, JetStream has stored it.
func (c *Client) Signal(ctx context.Context, event string, payload any, how Signal) error {
	body := object{"payload": payload}
	body.set("instanceId", how.InstanceID)
	body.set("correlationId", how.CorrelationID)
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	js, err := jetstream.New(c.nc)
	if err != nil {
		return err
	}
	message := nats.NewMsg("staunch.cmd.event." + dotted(event))
	message.Data = data
	message.Header.Set("Nats-Msg-Id", orNew(how.ID))
	_, err = js.PublishMsg(ctx, message)
	return err
}

// Query asks for an instance as it is.
func (c *Client) Query(ctx context.Context, instance string) (found Instance, err error) {
	err = c.ask(ctx, nats.NewMsg("staunch.api.get."+Token(instance)), &found)
	return found, err
}

// Payload reads the bytes of a payload, such as one that {"$payload": …} names in an output, if it has
// at most this many.
func (c *Client) Payload(ctx context.Context, hash string, bytesMax int) ([]byte, error) {
	var whole []byte
	for number, parts := 0, 1; number < parts; number++ {
		message := nats.NewMsg("staunch.api.payload." + Token(hash))
		message.Data = fmt.Appendf(nil, `{"part": %d}`, number)
		part, err := c.request(ctx, message)
		if err != nil {
			return nil, err
		}
		size, err := strconv.Atoi(part.Header.Get("Staunch-Payload-Bytes"))
		if err != nil {
			return nil, err
		}
		if parts, err = strconv.Atoi(part.Header.Get("Staunch-Payload-Parts")); err != nil {
			return nil, err
		}
		if size > bytesMax {
			detail := fmt.Sprintf("the payload %s has %d bytes, more than the %d here", hash, size, bytesMax)
			return nil, &RequestError{413, "Too large", detail}
		}
		whole = append(whole, part.Data...)
		if len(part.Data) == 0 || len(whole) > size {
			break
		}
	}
	if fmt.Sprintf("sha256-%x", sha256.Sum256(whole)) != hash {
		return nil, &RequestError{500, "Damaged", "the bytes that were read are not those of " + hash}
	}
	return whole, nil
}

var over = map[string]string{"Finished": "finished", "Faulted": "faulted", "Cancelled": "cancelled"}

// How long Watch hears nothing before it asks, and how long it waits for the answer.
const (
	patience     = 5 * time.Second
	answerWithin = 30 * time.Second
)

// Watch follows an instance until it is over, and returns its last event.
//
// Events are heard live, and may be lost; the end is not: the instance is asked for every few seconds,
// and again when nobody answers, or with 408, 429 or 5xx. An instance that does not exist yet is waited
// for. Only the context ends a watch of one that never does.
func (c *Client) Watch(ctx context.Context, instance string, each func(Event)) (last Event, err error) {
	events, err := c.nc.SubscribeSync("staunch.event.*." + Token(instance) + ".*")
	if err != nil {
		return last, err
	}
	defer func() { err = errors.Join(err, events.Unsubscribe()) }()
	for wait := 50 * time.Millisecond; ; wait = patience {
		hearing, stop := context.WithTimeout(ctx, wait)
		message, err := events.NextMsgWithContext(hearing)
		stop()
		switch {
		case err == nil:
			last = Event{Name: message.Subject[strings.LastIndexByte(message.Subject, '.')+1:]}
			if err := json.Unmarshal(message.Data, &last); err != nil {
				return last, err
			}
		case ctx.Err() != nil:
			return last, ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return last, err
		default:
			asking, stop := context.WithTimeout(ctx, answerWithin)
			found, err := c.Query(asking, instance)
			stop()
			if ctx.Err() == nil && mayBeAnswered(err) {
				continue
			}
			if err != nil {
				return last, err
			}
			if over[found.SubStatus] == "" {
				continue
			}
			last = Event{over[found.SubStatus], found.ID, found.DefinitionID, found.SubStatus,
				found.Version, found.Output, found.Incidents}
		}
		each(last)
		if over[last.SubStatus] == last.Name {
			return last, nil
		}
	}
}

// mayBeAnswered says whether the same query may be answered later.
func mayBeAnswered(err error) bool {
	var problem *RequestError
	if errors.As(err, &problem) {
		return problem.Status == 404 || problem.Status == 408 || problem.Status == 429 || problem.Status >= 500
	}
	for _, passing := range []error{nats.ErrNoResponders, nats.ErrDisconnected, nats.ErrReconnectBufExceeded,
		context.DeadlineExceeded} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

func (c *Client) command(ctx context.Context, rest string, body object, settled bool) (Outcome, error) {
	var outcome Outcome
	data, err := json.Marshal(body)
	if err != nil {
		return outcome, err
	}
	message := nats.NewMsg("staunch.api." + rest)
	message.Data = data
	message.Header.Set("Nats-Msg-Id", nuid.Next())
	if settled {
		message.Header.Set("Staunch-Reply-When", "settled")
	}
	if err := c.ask(ctx, message, &outcome); err != nil {
		return outcome, err
	}
	// A command that waits is kept, and applied later.
	if outcome.Refusal != "" && outcome.Refusal != "waiting" {
		return outcome, &Refused{outcome}
	}
	return outcome, nil
}

func (c *Client) ask(ctx context.Context, message *nats.Msg, into any) error {
	answer, err := c.request(ctx, message)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer.Data, into)
}

// request returns the answer, unless it is a problem.
func (c *Client) request(ctx context.Context, message *nats.Msg) (*nats.Msg, error) {
	answer, err := c.nc.RequestMsgWithContext(ctx, message)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", message.Subject, err)
	}
	if answer.Header.Get("Nats-Service-Error-Code") != "" {
		problem := &RequestError{}
		if err := json.Unmarshal(answer.Data, problem); err != nil {
			return nil, err
		}
		return nil, problem
	}
	return answer, nil
}

type object map[string]any

func (o object) set(name, value string) {
	if value != "" {
		maps.Copy(o, object{name: value})
	}
}

func orEmpty(input any) any {
	if input == nil {
		return object{}
	}
	return input
}

func orNew(id string) string {
	if id == "" {
		return nuid.Next()
	}
	return id
}
