import type { PendingGroup } from '../pending-groups.ts'
import type { AdminVideo, VideoTaskStatus } from '../videos.ts'
import { isoOrNull, isoTime } from './time.ts'

/** The creation or renaming of a group whose outcome is not known. */
export interface PendingGroupView {
  readonly id: string
  readonly user: string
  readonly user_name: string | null
  readonly type: string
  readonly name: string
  readonly state: 'pending' | 'unresolved'
  /** Id of the group that is renamed. Null: a group is created. */
  readonly renames: string | null
  /** The account of the asset library with the group. Null: the first, or the only one. */
  readonly account: string | null
  /** Id of the group that the upstream created. Null: unknown. */
  readonly group: string | null
  readonly created_at: string
  /** When the gateway looks for it. */
  readonly due_at: string
}

/** A video task. */
export interface VideoView {
  readonly id: string
  readonly user: string
  readonly user_name: string | null
  readonly token: string | null
  readonly model: string
  readonly status: VideoTaskStatus
  /** What the gateway does with it. */
  readonly phase: string
  readonly created_at: string
  readonly ended_at: string | null
  readonly upstream_id: string | null
  /** Code of the error of a failed task. */
  readonly error_code: string | null
  /** Why it needs the decision of a person. Null: it needs none. */
  readonly undecided: 'create_outcome_unknown' | 'running_too_long' | null
}

export const toPendingGroupView = (pending: PendingGroup): PendingGroupView => ({
  id: pending.id,
  user: pending.user,
  user_name: pending.userName ?? null,
  type: pending.type,
  name: pending.name,
  state: pending.state,
  renames: pending.renames ?? null,
  account: pending.account ?? null,
  group: pending.group ?? null,
  created_at: isoTime(pending.createdAt),
  due_at: isoTime(pending.dueAt),
})

export const toVideoView = (video: AdminVideo): VideoView => ({
  id: video.id,
  user: video.user,
  user_name: video.userName ?? null,
  token: video.token ?? null,
  model: video.model,
  status: video.status,
  phase: video.phase,
  created_at: isoTime(video.createdAt),
  ended_at: isoOrNull(video.endedAt),
  upstream_id: video.upstreamId ?? null,
  error_code: video.errorCode ?? null,
  undecided: video.undecided ?? null,
})
