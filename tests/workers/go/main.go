// The handlers of the conformance kit, in Go; with the argument `client`, the client's calls;
// with `watch` and an instance, its events.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"staunch/client"
)

var prefix, journal = os.Getenv("WORKER_PREFIX"), os.Getenv("WORKER_JOURNAL")

type empty map[string]any

func note[In any](what string, task client.Task[In]) {
	file, err := os.OpenFile(journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	must(err)
	_, err = fmt.Fprintf(file, "%s %s %d %d\n", what, task.ID, task.Attempt, os.Getpid())
	must(err)
	must(file.Close())
}

func slow(ctx context.Context, task client.Task[struct{ Ms int }]) (empty, error) {
	note("begin", task)
	select {
	case <-ctx.Done():
		note("cancelled", task)
		return nil, context.Cause(ctx)
	case <-time.After(time.Duration(task.Input.Ms) * time.Millisecond):
		note("end", task)
		return empty{"pid": os.Getpid()}, nil
	}
}

func work(nc *nats.Conn) {
	drain, err := strconv.ParseFloat(os.Getenv("WORKER_DRAIN"), 64)
	if err != nil {
		drain = 30
	}
	w := client.NewWorker(nc, time.Duration(drain*float64(time.Second)))
	client.Handle(w, prefix+" echo.ü", 1, 8, func(_ context.Context, task client.Task[any]) (empty, error) {
		note("begin", task)
		must(task.Progress(empty{"step": "echo"}))
		said := empty{"input": task.Input, "attempt": task.Attempt, "key": task.Key, "trace": nil, "deadline": nil}
		if task.Traceparent != "" {
			said["trace"] = task.Traceparent
		}
		if task.WorkflowName != "" {
			said["workflow"] = task.WorkflowName
		}
		if task.CorrelationID != "" {
			said["correlation"] = task.CorrelationID
		}
		if !task.Deadline.IsZero() {
			said["deadline"] = float64(task.Deadline.UnixMilli()) / 1000
		}
		return said, nil
	})
	client.Handle(w, prefix+" slow", 1, 3, slow)
	client.Handle(w, prefix+" blocking", 1, 8, slow)
	client.Handle(w, prefix+" second", 2, 8, func(_ context.Context, task client.Task[any]) (int, error) {
		return task.Version, nil
	})
	client.Handle(w, prefix+" fail-once", 1, 8, func(_ context.Context, task client.Task[any]) (empty, error) {
		note("begin", task)
		if task.Attempt == 1 {
			return nil, errors.New("the parcel service is away")
		}
		return empty{"attempt": task.Attempt}, nil
	})
	client.Handle(w, prefix+" fail-for-good", 1, 8, func(_ context.Context, task client.Task[any]) (empty, error) {
		note("begin", task)
		return nil, &client.Failure{Type: "CardDeclined", Title: "declined", Detail: "no money", Status: 402}
	})
	client.Handle(w, prefix+" fail-later", 1, 8, func(_ context.Context, task client.Task[any]) (empty, error) {
		note("begin", task)
		if task.Attempt == 1 {
			return nil, &client.Failure{Title: "busy", Retryable: true, RetryAfter: 2 * time.Second}
		}
		return empty{"attempt": task.Attempt}, nil
	})
	client.Handle(w, prefix+" typed", 1, 8, func(_ context.Context, task client.Task[struct{ Number int }]) (int, error) {
		return task.Input.Number + 1, nil
	})
	client.Handle(w, prefix+" big", 1, 8, func(_ context.Context, task client.Task[struct{ Bytes int }]) (string, error) {
		note("begin", task)
		return strings.Repeat("x", task.Input.Bytes), nil
	})
	client.Handle(w, prefix+" deep", 1, 8, func(_ context.Context, task client.Task[struct{ Levels int }]) ([]any, error) {
		note("begin", task)
		value := []any{}
		for range task.Input.Levels {
			value = []any{value}
		}
		return value, nil
	})
	client.Handle(w, prefix+" length", 1, 8, func(_ context.Context, task client.Task[struct{ Text string }]) (int, error) {
		return len(task.Input.Text), nil
	})
	var kept []client.Task[struct{ Steps []any }]
	client.Handle(w, prefix+" progress", 1, 1, func(_ context.Context, task client.Task[struct{ Steps []any }]) (string, error) {
		for _, ended := range kept {
			must(ended.Progress("too late"))
		}
		kept = append(kept, task)
		for _, step := range task.Input.Steps {
			must(task.Progress(step))
		}
		var refused *client.Failure
		if errors.As(task.Progress(strings.Repeat("x", 70_000)), &refused) {
			return refused.Title, nil
		}
		return "not refused", nil
	})
	client.Handle(w, prefix+" counting", 1, 8, func(_ context.Context, task client.Task[struct{ Count int }]) (int, error) {
		for number := range task.Input.Count {
			must(task.Progress(map[string]int{"number": number}))
			note("said", task)
			time.Sleep(50 * time.Millisecond)
		}
		return task.Input.Count, nil
	})
	client.Handle(w, prefix+" crash-before-result", 1, 8, func(_ context.Context, task client.Task[any]) (empty, error) {
		note("begin", task)
		lines, err := os.ReadFile(journal)
		must(err)
		if strings.Count(string(lines), "begin "+task.ID) == 1 {
			os.Exit(7)
		}
		return empty{"survived": true}, nil
	})
	must(w.Run(context.Background()))
}

func call(nc *nats.Conn) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	c, said := client.New(nc), empty{}
	var refused *client.Refused
	definition, how := prefix+"-waits", client.Start{Settled: true, CorrelationID: "c1", InstanceID: prefix + "-instance"}
	start, err := c.Start(ctx, definition, nil, how)
	must(err)
	said["status"] = start.SubStatus
	_, err = c.Start(ctx, definition, nil, how)
	if errors.As(err, &refused) {
		said["again"] = refused.Outcome.Refusal
	}
	found, err := c.Query(ctx, start.InstanceID)
	must(err)
	said["query"] = found.SubStatus
	events := make(chan []string)
	go func() { events <- follow(ctx, c, start.InstanceID) }()
	time.Sleep(300 * time.Millisecond)
	must(c.Signal(ctx, "go.on", empty{"by": "Ada"}, client.Signal{InstanceID: start.InstanceID}))
	said["watched"] = <-events
	said["late"] = follow(ctx, c, start.InstanceID)
	found, err = c.Query(ctx, start.InstanceID)
	must(err)
	said["output"] = found.Output
	held, err := c.Start(ctx, definition, nil, client.Start{Settled: true})
	must(err)
	resumed, err := c.Resume(ctx, held.InstanceID, held.Bookmarks[0], empty{"Payload": 1})
	must(err)
	said["resumed"] = resumed.SubStatus
	_, err = c.Resume(ctx, held.InstanceID, held.Bookmarks[0], nil)
	if errors.As(err, &refused) {
		said["refused"] = refused.Outcome.Refusal
	}
	third, err := c.Start(ctx, definition, nil, client.Start{Settled: true})
	must(err)
	cancelled, err := c.Cancel(ctx, third.InstanceID, "no need")
	must(err)
	said["cancelled"] = cancelled.SubStatus
	_, err = c.Start(ctx, "there is none", nil, client.Start{})
	var problem *client.RequestError
	if errors.As(err, &problem) {
		said["absent"] = problem.Status
	}
	must(json.NewEncoder(os.Stdout).Encode(said))
}

func follow(ctx context.Context, c *client.Client, instance string) (names []string) {
	_, err := c.Watch(ctx, instance, func(event client.Event) { names = append(names, event.Name) })
	must(err)
	return names
}

func main() {
	options := []nats.Option{nats.MaxReconnects(-1)}
	if user := os.Getenv("WORKER_USER"); user != "" {
		options = append(options, nats.UserInfo(user, "secret"), nats.CustomInboxPrefix("_INBOX."+user))
	}
	nc, err := nats.Connect(os.Getenv("NATS_URL"), options...)
	must(err)
	defer nc.Close()
	switch len(os.Args) {
	case 1:
		work(nc)
	case 2:
		call(nc)
	default:
		events := follow(context.Background(), client.New(nc), os.Args[2])
		must(json.NewEncoder(os.Stdout).Encode(events))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
