import type { PendingGroupView, VideoView } from '../docs/schemas.ts'
import type { PendingGroup } from '../pending-groups.ts'
import type { AdminVideo } from '../videos.ts'
import { isoOrNull, isoTime } from './time.ts'

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
