/** Bodies of the newest routes, as `services/ingress/src/present/shape` has them. */
export interface Schedule {
  id: string;
  definitionId: string;
  definitionVersionId: string;
  activityId: string;
  kind: string;
  expression: string;
  timeZone: string | null;
  misfirePolicy: string;
  catchUpMax: number | null;
  nextAt: string | null;
  upcoming: string[];
  lastAt: string | null;
  missed: number;
  isPaused: boolean;
  pausedAt: string | null;
  pausedBy: string | null;
}

export interface Paged<T> {
  items: T[];
  totalCount: number;
}

export interface FiguresOfActivity {
  activityId: string;
  activityNodeId: string;
  activityType: string;
  started: number;
  completed: number;
  faulted: number;
  running: number;
  p50Ms: number | null;
  p95Ms: number | null;
  startedParts: number[];
}

export interface ActivityFigures {
  definitionId: string;
  since: string;
  until: string;
  items: FiguresOfActivity[];
  instancesRead: number;
  instancesChanged: number;
  isCutShort: boolean;
}

export interface IncidentGroup {
  id: string;
  definitionId: string;
  activityId: string;
  activityNodeId: string;
  activityType: string;
  code: string;
  cause: string;
  message: string;
  count: number;
  instanceCount: number;
  firstAt: string;
  lastAt: string;
  newestInstanceId: string;
  workflowInstanceIds: string[];
}

export interface IncidentGroups extends Paged<IncidentGroup> {
  instancesRead: number;
  instancesUnreadable: number;
  instancesWithIncidents: number;
  isCutShort: boolean;
}

export interface HeldLease {
  workflowInstanceId: string;
  node: string;
  isNodeLive: boolean;
  since: string | null;
  wantedBy: string[];
}

export interface HeldLeases extends Paged<HeldLease> {
  stale: number;
  contended: number;
}

export interface StreamShown {
  name: string;
  isBucket: boolean;
  messages: number;
  bytes: number;
  bytesMax: number | null;
  replicas: number;
  replicasBehind: string[];
  trouble: string | null;
}

export interface ConsumerShown {
  name: string;
  stream: string;
  pending: number;
  inHand: number;
  redelivered: number;
  waitingPulls: number;
  trouble: string | null;
}

export interface NatsFigures {
  server: string;
  version: string;
  cluster: string | null;
  streams: StreamShown[];
  consumers: ConsumerShown[];
}

export interface DatabaseFigures {
  node: string;
  backend: string;
  time: string;
  latencyMs: number;
  queued: number;
  pools: { name: string; open: number; idle: number; max: number }[];
}

export interface InstanceCounts {
  counts: { status: string; subStatus: string; count: number }[];
  totalCount: number;
  withIncidents: number;
  isCutShort: boolean;
}

export interface LetterBody {
  id: string;
  subject: string;
  contentType: string;
  bytes: number;
  canReplay: boolean;
  isReadable: boolean;
  body: unknown;
  text: string | null;
}

export interface Me {
  who: string;
  kind: string;
  isAuthenticationOn: boolean;
  permissions: string[];
  granted: string[];
}
