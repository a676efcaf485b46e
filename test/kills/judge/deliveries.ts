import type { KillWorld } from '../world.ts'
import type { Tables } from './tables.ts'

/** Each event is there once, and its user's webhook has received it. */
export const checkDeliveries = async (
  { people, deliveries }: KillWorld,
  tables: Tables,
): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const { id, name, marker } of people) {
    const rows = await tables.query(`select id, type, data from events where user_id = '${id}'`)
    const events = rows.map((row) => ({ id: String(row.id), type: String(row.type), data: String(row.data) }))
    const ends = events.filter(({ type }) => /^video\.(?:succeeded|cancelled|failed|expired)$/.test(type))
    const ended = await tables.count(`select count(*) from video_tasks where phase = 'ended' and user_id = '${id}'`)
    if (ends.length !== ended) problems.push(`${name} has ${ends.length} events of the end of ${ended} videos`)
    const expected = events.filter(({ type }) => /^(?:video|asset_batch)\./.test(type))
    const received = new Set(deliveries.filter(({ path }) => path === `/${marker}`).map((delivery) => delivery.id))
    const lost = expected.filter((event) => !received.has(event.id))
    if (lost.length > 0) problems.push(`${lost.length} events of ${name} were not delivered, such as ${lost[0]?.data}`)
    const foreign = [...received].filter((each) => !expected.some((event) => event.id === each))
    if (foreign.length > 0) problems.push(`the webhook of ${name} has received ${foreign.length} events of others`)
  }
  return problems
}

/** Deliveries that were repeated, which a receiver recognizes by their ids. */
export const repeatedDeliveries = ({ deliveries }: Pick<KillWorld, 'deliveries'>): number =>
  deliveries.length - new Set(deliveries.map(({ path, id }) => `${path} ${id}`)).size
