import { sql } from '../../../src/store/database/statement.ts'
import { simulated } from '../virtual/virtual-process.ts'
import type { World } from '../world/world.ts'

interface EventRow {
  readonly id: string
  readonly user: string
  readonly type: string
  readonly data: string
}

/** The ids of the events that the client of a user has received, in the order of arrival. */
export interface ReceivedEvents {
  readonly user: string
  readonly ids: string[]
  /** Where the first stream has started: `start`, or the last event before it. Undefined: it has not. */
  startsAfter?: string
}

/** Receives the events of a user until `isOver`: after a lost connection, the client resumes after the last event. */
export const receiveEvents = async (world: World, received: ReceivedEvents, isOver: () => boolean): Promise<void> => {
  const { user, ids } = received
  let last = ''
  while (!isOver()) {
    await world.stream(user, '/api/events', last === '' ? {} : { 'last-event-id': last }, (frame) => {
      const id = frame.match(/^id: (\S+)$/m)?.[1]
      const type = frame.match(/^event: (\S+)$/m)?.[1] ?? ''
      if (id !== undefined) {
        last = id
        received.startsAfter ??= id
      }
      if (type === 'stream.gap') world.violate(`${user} has missed events`)
      if (id !== undefined && type !== '' && !type.startsWith('stream.')) ids.push(id)
    })
    await simulated.timeline.delay(500)
  }
}

/** Checks that each user has received each own event, in order, and that the last event of a video tells its state. */
export const checkEvents = async (world: World, clients: readonly ReceivedEvents[]): Promise<void> => {
  // Streams read what other gateways have added twice a second.
  await simulated.timeline.delay(5_000)
  const events = await world.database.query<EventRow>(sql`
    select id, user_id as "user", type, data
    from events
    order by sequence`)
  for (const { user, ids, startsAfter } of clients) {
    const own = events.filter((event) => event.user === user).map(({ id }) => id)
    const expected = startsAfter === undefined ? [] : own.slice(own.indexOf(startsAfter) + 1)
    // After a resumption, events may come again.
    const first = [...new Set(ids)]
    if (first.join() !== expected.join())
      world.violate(
        `${user} has received ${first.length} events (${first}), and there were ${expected.length} (${expected})`,
      )
  }
  const videos = await world.database.query<{ id: string; status: string }>(sql`select id, status from video_tasks`)
  for (const { id, status } of videos) {
    const last = events.findLast(({ type, data }) => type.startsWith('video.') && JSON.parse(data).id === id)
    if (last?.type !== `video.${status}`) world.violate(`${id} is ${status}, and its last event is ${last?.type}`)
  }
}
