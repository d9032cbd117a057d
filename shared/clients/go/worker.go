package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nats.go/micro"
)

const (
	// How long one pull waits for a task. A worker that stops waits for the end of its last one.
	pullWait = 2 * time.Second
	// How often the limits of the consumer are read again: an operator may change them.
	limitsEvery    = 30 * time.Second
	ackWaitMin     = 500 * time.Millisecond
	retryWaitMax   = 5 * time.Second
	detailBytesMax = 4000
)

// What ends a task before its handler does: the cause of its context.
var (
	ErrCancelled = errors.New("cancelled")
	ErrStopping  = errors.New("stopping")
	ErrDeadline  = errors.New("deadline")
)

// Failure is a failure as the handler means it; any other error is a failure that is tried again.
type Failure struct {
	Type, Title, Detail string
	Status              int
	Retryable           bool
	RetryAfter          time.Duration
}

func (f *Failure) Error() string { return strings.TrimSuffix(f.Title+": "+f.Detail, ": ") }

// Task is a task, as its handler gets it.
type Task[In any] struct {
	ID, Type string
	Version  int
	Input    In
	Attempt  int
	// After this time the result is not used; zero if there is none.
	Deadline time.Time
	// The same for every delivery of this attempt: the idempotency key of what the handler calls.
	Key                                  string
	InstanceID, DefinitionID, ActivityID string
	// The name of the definition and the correlation id of the instance; empty if there is none.
	WorkflowName, CorrelationID string
	Traceparent                 string
	// Publishes what Progress is given; nil in a task that no worker has made.
	progress func(json.RawMessage)
}

// wireTask is a task on the wire. What has to be there is a pointer.
type wireTask struct {
	TaskID       *string         `json:"taskId"`
	TaskType     string          `json:"taskType"`
	TaskVersion  int             `json:"taskVersion"`
	Input        json.RawMessage `json:"input"`
	InstanceID   *string         `json:"workflowInstanceId"`
	DefinitionID *string         `json:"workflowDefinitionId"`
	ActivityID   *string         `json:"activityId"`
	Attempt      *int            `json:"attempt"`
	Deadline     *time.Time      `json:"deadline"`
	// These two may be left out.
	WorkflowName  string `json:"workflowName"`
	CorrelationID string `json:"correlationId"`
}

// Worker has handlers of tasks, over a connection to NATS.
type Worker struct {
	// That of the consumer; it counts only for a user who may not ask for it.
	AckWait  time.Duration
	nc       *nats.Conn
	drain    time.Duration
	log      *slog.Logger
	handlers []*handler
}

// NewWorker is a worker without handlers. When it stops, the tasks in hand have this time to end.
func NewWorker(nc *nats.Conn, drain time.Duration) *Worker {
	return &Worker{AckWait: 30 * time.Second, nc: nc, drain: drain, log: slog.Default()}
}

type handler struct {
	*Worker
	taskType string
	version  int
	places   chan struct{}
	work     func(context.Context, Task[json.RawMessage]) (any, error)
	ackWait  time.Duration
	mutex    sync.Mutex
	ends     map[string]context.CancelCauseFunc
}

// Handle offers a handler for a type of tasks, for this many at the same time. Its context ends when
// nobody wants the result any more; it keeps its place until it returns.
func Handle[In, Out any](w *Worker, taskType string, version, concurrency int, work func(context.Context, Task[In]) (Out, error)) {
	untyped := func(ctx context.Context, raw Task[json.RawMessage]) (any, error) {
		task := Task[In]{raw.ID, raw.Type, raw.Version, *new(In), raw.Attempt, raw.Deadline, raw.Key,
			raw.InstanceID, raw.DefinitionID, raw.ActivityID, raw.WorkflowName, raw.CorrelationID, raw.Traceparent,
			raw.progress}
		if err := json.Unmarshal(raw.Input, &task.Input); err != nil {
			return nil, &Failure{Type: "InvalidInput", Title: "the input is not what the worker takes", Detail: err.Error()}
		}
		return work(ctx, task)
	}
	w.handlers = append(w.handlers, &handler{Worker: w, taskType: taskType, version: version,
		places: make(chan struct{}, concurrency), work: untyped, ends: map[string]context.CancelCauseFunc{}})
}

// Run works until the context ends, or until SIGTERM or SIGINT. Then it takes no more tasks, and
// returns when those in hand are done, or their time is over.
func (w *Worker) Run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	js, err := jetstream.New(w.nc)
	if err != nil {
		return err
	}
	if service, err := w.announce(); err != nil {
		w.log.Warn("nobody is told who works here", "error", err)
	} else {
		defer service.Stop()
	}
	ended := make(chan error, len(w.handlers))
	for _, h := range w.handlers {
		go func() { ended <- h.serve(ctx, js) }()
	}
	for range w.handlers {
		err = errors.Join(err, <-ended)
	}
	return errors.Join(err, w.nc.FlushTimeout(5*time.Second))
}

// announce says who works at what to those who ask: the worker is a service of NATS without endpoints.
func (w *Worker) announce() (micro.Service, error) {
	type takes struct {
		Type        string `json:"type"`
		Version     int    `json:"version"`
		Concurrency int    `json:"concurrency"`
	}
	var all []takes
	for _, h := range w.handlers {
		all = append(all, takes{h.taskType, h.version, cap(h.places)})
	}
	tasks, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	metadata := map[string]string{"staunch-tasks": string(tasks)}
	if host, err := os.Hostname(); err == nil {
		metadata["host"] = host
	}
	return micro.AddService(w.nc, micro.Config{Name: "staunch-worker", Version: version, Metadata: metadata})
}

func (h *handler) name() string { return Token(h.taskType) + "." + strconv.Itoa(h.version) }

func (h *handler) serve(ctx context.Context, js jetstream.JetStream) error {
	notices, err := h.nc.Subscribe("staunch.task-cancel."+h.name()+".*", func(notice *nats.Msg) {
		h.end(notice.Subject[strings.LastIndexByte(notice.Subject, '.')+1:], ErrCancelled)
	})
	if err != nil {
		return err
	}
	pulled := make(chan struct{})
	go func() {
		h.pull(ctx, js)
		close(pulled)
	}()
	<-ctx.Done()
	limit := time.After(h.drain)
	<-pulled
	// All places free: nothing is in hand.
	for range cap(h.places) {
		select {
		case h.places <- struct{}{}:
			continue
		case <-limit:
		}
		h.end("", ErrStopping)
		time.Sleep(100 * time.Millisecond)
		break
	}
	return notices.Unsubscribe()
}

// end ends a task in hand, or every one.
func (h *handler) end(task string, why error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for id, cancel := range h.ends {
		if task == "" || task == id {
			cancel(why)
		}
	}
}

func (h *handler) pull(ctx context.Context, js jetstream.JetStream) {
	durable := "task-" + Token(h.taskType) + "-" + strconv.Itoa(h.version)
	var read time.Time
	complaint := ""
	for {
		select {
		case <-ctx.Done():
			return
		case h.places <- struct{}{}:
		}
		message, err := func() (*nats.Msg, error) {
			if time.Since(read) > limitsEvery {
				if err := h.readLimits(ctx, js, durable); err != nil {
					return nil, err
				}
				read = time.Now()
			}
			return h.next(durable)
		}()
		switch {
		case err == nil && message == nil:
			<-h.places
			continue
		case err == nil && ctx.Err() != nil:
			h.answer(message, "-NAK")
			return
		case err == nil:
			complaint = ""
			go func() {
				defer func() { <-h.places }()
				h.handle(js, message)
			}()
			continue
		}
		<-h.places
		if err.Error() != complaint && ctx.Err() == nil {
			complaint = err.Error()
			h.log.Warn("no tasks for now, tries again", "consumer", durable, "error", err)
		}
		read = time.Time{}
		pause(ctx, time.Second)
	}
}

func (h *handler) readLimits(ctx context.Context, js jetstream.JetStream, durable string) error {
	ackWait := h.AckWait
	found, err := js.Consumer(ctx, tasksStream, durable)
	switch {
	case err == nil:
		ackWait = found.CachedInfo().Config.AckWait
	case !errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return err
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	h.ackWait = max(ackWait, ackWaitMin)
	return nil
}

// next is the next task, if there is one soon. A pull of one task is a request, whose answer has the
// subject of the task: so it has an inbox of its own. A jetstream.Consumer would need the right to ask
// for its limits.
func (h *handler) next(durable string) (*nats.Msg, error) {
	pull, err := json.Marshal(object{"batch": 1, "expires": pullWait})
	if err != nil {
		return nil, err
	}
	inbox := h.nc.NewInbox()
	answers, err := h.nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { h.check(answers.Unsubscribe()) }()
	subject := "$JS.API.CONSUMER.MSG.NEXT." + tasksStream + "." + durable
	if err := h.nc.PublishRequest(subject, inbox, pull); err != nil {
		return nil, err
	}
	message, err := answers.NextMsg(2 * pullWait)
	if err != nil {
		return nil, err
	}
	switch status := message.Header.Get("Status"); status {
	case "":
		return message, nil
	case "404", "408":
		return nil, nil
	default:
		return nil, fmt.Errorf("%s %s", status, message.Header.Get("Description"))
	}
}

func (h *handler) handle(js jetstream.JetStream, message *nats.Msg) {
	task, err := h.read(message)
	if err != nil {
		h.poison(js, message, err)
		return
	}
	base, cancel := context.WithCancelCause(context.Background())
	ctx, undo := base, context.CancelFunc(func() {})
	if !task.Deadline.IsZero() {
		ctx, undo = context.WithDeadlineCause(base, task.Deadline, ErrDeadline)
	}
	defer undo()
	defer cancel(nil)
	id := Token(task.ID)
	h.mutex.Lock()
	h.ends[id] = cancel
	h.mutex.Unlock()
	defer func() {
		h.mutex.Lock()
		delete(h.ends, id)
		h.mutex.Unlock()
	}()

	reports := make(chan report, 1)
	go func() { reports <- h.report(ctx, js, task) }()
	stored := make(chan error, 1)
	hasEnded := false
	beat := time.NewTicker(h.beatEvery())
	defer beat.Stop()
	for {
		select {
		case ended := <-reports:
			hasEnded = true
			go func() { stored <- h.send(ctx, js, task.ID, task.Attempt, task.Traceparent, ended) }()
		case err := <-stored:
			if err == nil {
				h.answer(message, "+ACK")
				return
			}
		case <-beat.C:
			h.answer(message, "+WPI")
			beat.Reset(h.beatEvery())
		case <-ctx.Done():
			why := context.Cause(ctx)
			h.log.Warn("a task is given up", "task", task.ID, "type", h.name(), "why", why)
			if errors.Is(why, ErrStopping) {
				h.answer(message, "-NAK")
			} else {
				h.answer(message, "+ACK")
			}
			if !hasEnded {
				// It keeps its place until it has ended.
				<-reports
			}
			return
		}
	}
}

func (h *handler) beatEvery() time.Duration {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.ackWait / 3
}

// report runs the handler, and writes what becomes of it.
func (h *handler) report(ctx context.Context, js jetstream.JetStream, task Task[json.RawMessage]) (ended report) {
	defer func() {
		if panicked := recover(); panicked != nil {
			h.log.Error("a handler panics", "task", task.ID, "type", h.name(), "panic", panicked)
			ended = failed(task.Attempt, &Failure{Title: "the handler panics", Detail: fmt.Sprint(panicked), Retryable: true})
		}
	}()
	var output any
	input, err := whole(ctx, h.nc, task.Input)
	if err == nil {
		task.Input = input
		task.progress = func(said json.RawMessage) {
			if ctx.Err() == nil {
				h.progress(task, said)
			}
		}
		output, err = h.work(ctx, task)
	}
	if err == nil {
		ended, err = h.result(ctx, js, task, output)
	}
	if err == nil {
		return ended
	}
	var failure *Failure
	if !errors.As(err, &failure) {
		h.log.Warn("a task fails", "task", task.ID, "type", h.name(), "error", err)
		failure = &Failure{Title: err.Error(), Retryable: true}
	}
	return failed(task.Attempt, failure)
}

func failed(attempt int, failure *Failure) report {
	problem := object{"title": short(failure.Title)}
	problem.set("type", failure.Type)
	problem.set("detail", short(failure.Detail))
	if failure.Status != 0 {
		problem["status"] = failure.Status
	}
	body := object{"status": "failed", "attempt": attempt, "error": problem, "retryable": failure.Retryable}
	if failure.RetryAfter > 0 {
		body["retryAfter"] = int64((failure.RetryAfter + time.Second - 1) / time.Second)
	}
	// Text and numbers always have a form in JSON.
	data, _ := json.Marshal(body)
	return report{body: data}
}

// send publishes a result until JetStream says that it is stored, or nobody wants it any more.
func (h *handler) send(ctx context.Context, js jetstream.JetStream, id string, attempt int, trace string, ended report) error {
	message := nats.NewMsg("staunch.cmd.task." + h.name() + "." + Token(id))
	message.Data = ended.body
	message.Header.Set("Nats-Msg-Id", fmt.Sprintf("%s.%d.result", id, attempt))
	message.Header.Set("Staunch-Attempt", strconv.Itoa(attempt))
	if trace != "" {
		message.Header.Set("traceparent", trace)
	}
	if ended.object != "" {
		message.Header.Set("Staunch-Payload", "$payload="+ended.object)
	}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, retryWaitMax) {
		attempting, stop := context.WithTimeout(ctx, 5*time.Second)
		_, err := js.PublishMsg(attempting, message)
		stop()
		if err == nil || ctx.Err() != nil {
			return err
		}
		h.log.Warn("a result is not stored yet", "task", id, "type", h.name(), "error", err)
		pause(ctx, wait)
	}
}

// poison ends what is no task, so that it does not come again. If it names one, that has failed.
func (h *handler) poison(js jetstream.JetStream, message *nats.Msg, reason error) {
	h.log.Error("a message is no task, and is removed", "type", h.name(), "reason", reason)
	id, attempt := message.Header.Get("Staunch-Task"), message.Header.Get("Staunch-Attempt")
	if number, err := strconv.Atoi(attempt); err == nil && id != "" {
		failure := &Failure{Type: "UnreadableTask", Title: "the worker cannot read the task", Detail: reason.Error()}
		h.check(h.send(context.Background(), js, id, number, "", failed(number, failure)))
	}
	h.answer(message, "+TERM "+strings.Join(strings.Fields(short(reason.Error())), " "))
}

func (h *handler) read(message *nats.Msg) (task Task[json.RawMessage], err error) {
	var wire wireTask
	if err := json.Unmarshal(message.Data, &wire); err != nil {
		return task, err
	}
	if wire.TaskID == nil || wire.Attempt == nil || wire.Input == nil || wire.InstanceID == nil ||
		wire.DefinitionID == nil || wire.ActivityID == nil {
		return task, errors.New("a member of the task is missing")
	}
	if wire.TaskType != h.taskType || wire.TaskVersion != h.version {
		return task, fmt.Errorf("the task is one of %s, version %d", wire.TaskType, wire.TaskVersion)
	}
	task = Task[json.RawMessage]{ID: *wire.TaskID, Type: h.taskType, Version: h.version, Input: wire.Input,
		Attempt: *wire.Attempt, Key: message.Header.Get("Nats-Msg-Id"), InstanceID: *wire.InstanceID,
		DefinitionID: *wire.DefinitionID, ActivityID: *wire.ActivityID, WorkflowName: wire.WorkflowName,
		CorrelationID: wire.CorrelationID, Traceparent: message.Header.Get("traceparent")}
	if wire.Deadline != nil {
		task.Deadline = *wire.Deadline
	}
	return task, nil
}

func (h *handler) answer(message *nats.Msg, kind string) {
	h.check(h.nc.Publish(message.Reply, []byte(kind)))
}

// check logs what the broker did not take: what is missing there comes again.
func (h *handler) check(err error) {
	if err != nil {
		h.log.Warn("the broker did not get an answer about a task", "type", h.name(), "error", err)
	}
}

func short(text string) string { return text[:min(len(text), detailBytesMax)] }

func pause(ctx context.Context, time_ time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(time_):
	}
}
