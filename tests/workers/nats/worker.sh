#!/usr/bin/env bash
# A worker that is nothing but the command nats: takes one task, works, publishes the result, and
# acknowledges what is stored. The handler gets the input at its standard input, and prints the output.
#   worker.sh TYPE VERSION HANDLER…       TYPE as it is in subjects
set -euo pipefail
TYPE=$1 VERSION=$2
shift 2
INBOX=_INBOX.worker.$$.$RANDOM
FOLDER=$(mktemp -d)
trap 'rm -r "$FOLDER"; kill $(jobs -p) 2>/dev/null || true' EXIT

# Pull one task. The reply subject is what the answers about it go to.
nats sub "$INBOX" --count 1 > "$FOLDER/task" 2>&1 &
HEARD=$!
until grep -q Subscribing "$FOLDER/task"; do sleep 0.05; done
nats pub "\$JS.API.CONSUMER.MSG.NEXT.STAUNCH_TASKS.task-$TYPE-$VERSION" --reply "$INBOX" \
    '{"batch": 1, "expires": 30000000000}' > "$FOLDER/asked" 2>&1
wait $HEARD
REPLY=$(sed -n 's/.* with reply "\([^"]*\)".*/\1/p' "$FOLDER/task")
[ -n "$REPLY" ] || { echo 'no task' >&2; exit 3; }
grep '^{' "$FOLDER/task" > "$FOLDER/body" || true
member() { python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[1]))[sys.argv[2]], sys.stdout)' "$FOLDER/body" "$1"; }
answer() { nats pub "$REPLY" "$1" > /dev/null 2>&1; }

# What cannot be read does not come again.
if ! TASK=$(member taskId 2>/dev/null | tr -d '"') || ! ATTEMPT=$(member attempt 2>/dev/null); then
    answer '+TERM no task'
    exit 4
fi
# A sign of life well before ack_wait, and an ear for the cancellation.
(while sleep "${BEAT:-10}" && kill -0 $$ 2>/dev/null; do answer +WPI; done) &
nats sub "staunch.task-cancel.$TYPE.$VERSION.$TASK" --count 1 > "$FOLDER/unwanted" 2>&1 &
UNWANTED=$!

member input > "$FOLDER/input"
"$@" < "$FOLDER/input" > "$FOLDER/output" 2> "$FOLDER/error" &
WORK=$!
wait -n $WORK $UNWANTED || true
if ! kill -0 $UNWANTED 2>/dev/null; then
    kill $WORK 2>/dev/null || true
    answer +ACK
    exit 5
fi
ENDED=0 NAMED=()
wait $WORK || ENDED=$?
if [ $ENDED -eq 0 ] && [ "$(wc -c < "$FOLDER/output")" -le 100000 ]; then
    RESULT="{\"attempt\": $ATTEMPT, \"output\": $(cat "$FOLDER/output")}"
elif [ $ENDED -eq 0 ]; then
    # An argument of a command does not carry it: it is an object, which a header names. The name says what
    # is in it, so one that somebody has replaced is not taken for it.
    OBJECT=tasks/$TASK/$ATTEMPT/sha256-$(sha256sum < "$FOLDER/output" | cut -c 1-64)
    until nats object put staunch_payloads "$FOLDER/output" --name "$OBJECT" --no-progress > /dev/null 2>&1; do
        sleep 1
    done
    RESULT="{\"attempt\": $ATTEMPT}" NAMED=(-H "Staunch-Payload:\$payload=$OBJECT")
else
    DETAIL=$(python3 -c 'import json, sys; print(json.dumps(sys.stdin.read()))' < "$FOLDER/error")
    RESULT="{\"attempt\": $ATTEMPT, \"status\": \"failed\", \"error\": {\"title\": \"the handler failed\", \"detail\": $DETAIL}}"
fi
# The answer of JetStream has a sequence when the result is stored.
send() {
    nats req "staunch.cmd.task.$TYPE.$VERSION.$TASK" "$RESULT" -H "Nats-Msg-Id:$TASK.$ATTEMPT.result" \
        ${NAMED[@]+"${NAMED[@]}"} --timeout 30s --raw 2>/dev/null || true
}
until [[ $(send) == *'"seq"'* ]]; do sleep 1; done
[ -z "${CRASH:-}" ] || kill -9 $$
answer +ACK
