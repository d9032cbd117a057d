package client

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
)

// The largest progress of a task, as JSON.
const progressBytesMax = 64 * 1024

// Progress says how far the work is, as JSON of at most 64 KiB, to those who listen at this moment. What
// the broker does not get is lost, and logged; the error is that of a value that is no JSON or is larger.
func (t Task[In]) Progress(value any) error {
	said, err := json.Marshal(value)
	if err != nil {
		return &Failure{Type: "ProgressUnfit", Title: "the progress is not JSON", Detail: err.Error()}
	}
	if len(said) > progressBytesMax {
		title := fmt.Sprintf("the progress has %d bytes, more than the %d that it may have", len(said), progressBytesMax)
		return &Failure{Type: "ProgressTooLarge", Title: title, Detail: "say how far the work is, and return what is large as the result"}
	}
	if t.progress != nil {
		t.progress(said)
	}
	return nil
}

// progress publishes how far a task is, unless nobody wants its result any more.
func (h *handler) progress(task Task[json.RawMessage], said json.RawMessage) {
	// What is JSON already, texts and numbers always have a form in JSON.
	body, _ := json.Marshal(object{"taskId": task.ID, "taskType": task.Type, "taskVersion": task.Version,
		"workflowInstanceId": task.InstanceID, "attempt": task.Attempt, "progress": said})
	message := nats.NewMsg("staunch.task-progress." + h.name() + "." + Token(task.ID))
	message.Data = body
	message.Header.Set("Staunch-Task", task.ID)
	message.Header.Set("Staunch-Instance", task.InstanceID)
	message.Header.Set("Staunch-Attempt", strconv.Itoa(task.Attempt))
	if task.Traceparent != "" {
		message.Header.Set("traceparent", task.Traceparent)
	}
	if err := h.nc.PublishMsg(message); err != nil {
		h.log.Warn("the progress of a task is lost", "task", task.ID, "type", h.name(), "error", err)
	}
}
