import { type AdminVideo, type AdminVideoFilter, videoTaskStatuses } from '../../../plugins/admin/videos.ts'
import { toVideoView } from '../../../plugins/admin/views/decisions.ts'
import { UsageError, wordOf } from '../arguments.ts'
import type { Command, Commands } from '../command.ts'
import { requireUser } from '../context.ts'
import { columns, printJson, time } from '../terminal.ts'

const list: Command['run'] = async (_words, { user, status, json }, on) => {
  const filter: AdminVideoFilter = {
    user: user === undefined ? undefined : (await requireUser(on, user)).id,
    status: wordOf(status, ['undecided', ...videoTaskStatuses], '--status'),
  }
  let after: string | undefined
  do {
    const page = await on.operations.videos.list(on.actor, filter, { limit: 200, after })
    for (const video of page.items)
      if (json) printJson(on.out, toVideoView(video))
      else on.out(lineOfVideo(video))
    after = page.next
  } while (after !== undefined)
}

/** Id, user, status, phase, model, time, the upstream's id, and the code of an error or of what to decide. */
const lineOfVideo = (video: AdminVideo): string => {
  const { id, userName = video.user, status, phase, model, createdAt, upstreamId = '-' } = video
  const code = video.undecided ?? video.errorCode ?? '-'
  return columns(id, userName, status, phase, model, `created ${time(createdAt)}`, upstreamId, code)
}

const adopt: Command['run'] = async ([id = ''], { 'upstream-id': upstreamId }, on) => {
  if (upstreamId === undefined) throw new UsageError('--upstream-id is missing')
  await on.operations.videos.adopt(on.actor, id, { upstream_id: upstreamId })
}

/** The commands of videos. */
export const videoCommands: Commands = {
  'video list': { positionals: [0, 0], flags: ['user', 'status'], switches: ['json'], run: list },
  'video adopt': { positionals: [1, 1], flags: ['upstream-id'], run: adopt },
  'video release': {
    positionals: [1, 1],
    run: ([id = ''], _flags, on) => on.operations.videos.release(on.actor, id),
  },
}
