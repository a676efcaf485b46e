import { sql } from '../../../src/store/database/statement.ts'
import type { KnownVideos } from '../steps/videos.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

interface VideoRow {
  readonly id: string
  readonly user: string
  readonly phase: string
  readonly status: string
  readonly upstreamId?: string
  readonly fields: string
}

const readRows = (world: World): Promise<VideoRow[]> =>
  world.database.query<VideoRow>(sql`
    select id, user_id as "user", phase, status, upstream_id as "upstreamId", fields
    from video_tasks
    order by id`)

const promptOf = ({ fields }: VideoRow): string => JSON.parse(fields).notes.prompt

/** Checks the videos when everything works again. All tasks end within a minute. */
export const checkVideos = async (world: World, known: KnownVideos): Promise<void> => {
  const { timeline } = simulated
  const isOver = async () => (await readRows(world)).every(({ phase }) => phase === 'ended')
  for (const end = timeline.now + 60_000; timeline.now < end && !(await isOver()); ) await timeline.delay(1_000)

  const rows = await readRows(world)
  const { tasks } = world.upstream.account.video
  const made = Map.groupBy(tasks.all(), ({ request }) => request.prompt)
  for (const row of rows) {
    const prompt = promptOf(row)
    if (prompt.split(' ')[0] !== row.user) world.violate(`the record of ${prompt}'s video is ${row.user}'s`)
    if (row.phase !== 'ended') world.violate(`${row.id} (${prompt}) is still ${row.phase}, ${row.status}`)
    const task = row.upstreamId === undefined ? undefined : made.get(prompt)?.find(({ id }) => id === row.upstreamId)
    if (row.upstreamId !== undefined && !task) world.violate(`${row.id} (${prompt}) has the task of another request`)
    // The upstream's call that cancels a queued task deletes one that has ended by the time it arrives. Without having
    // seen the end, nobody can know it then.
    const isUnknown = task?.gone && row.status === 'failed'
    if (task && task.status !== row.status && !isUnknown)
      world.violate(`${row.id} (${prompt}) is shown as ${row.status}, and the upstream's task is ${task.status}`)
  }
  for (const [prompt, status] of known.answers) {
    const count = made.get(prompt)?.length ?? 0
    if (count > 1) world.violate(`the upstream has ${count} tasks of one request (${prompt})`)
    if (count > 0 && status >= 400 && status < 500)
      world.violate(`${prompt} was rejected with ${status}, and the upstream has a task`)
    const video = known.videos.find((each) => each.prompt === prompt)
    const row = rows.find((each) => promptOf(each) === prompt)
    if (status === 200 && !row && !video?.isRemoved) world.violate(`the video of ${prompt} is lost`)
    if (row && row.status === 'succeeded' && count === 0) world.violate(`the video of ${prompt} was never made`)
    // What runs for nobody costs money.
    const orphan = made.get(prompt)?.find((task) => task.status !== 'cancelled')
    if (orphan && !row && !video?.isRemoved) world.violate(`the upstream's task of ${prompt} belongs to nobody`)
  }
  const { maxActiveVideos } = world.upstream
  if (maxActiveVideos > videoSlots) world.violate(`${maxActiveVideos} tasks ran in ${videoSlots} slots`)
}

/** Slots of the gateways' queue. */
export const videoSlots = 2
