import type { KillWorld } from '../world.ts'
import type { Tables } from './tables.ts'

/** What goes on after the kills, and ends by itself: rows of which none is left then. */
const openAt = (now: number): Readonly<Record<string, string>> => ({
  'claims of groups': `select count(*) from groups where state <> 'owned'`,
  videos: `select count(*) from video_tasks where phase <> 'ended'`,
  batches: `select count(*) from asset_batches where ended_at is null`,
  'deletions of consents': `
    select count(*) from consents
    where deletion_at is not null and (assets_at is null or results_at is null)`,
  'assets that are watched': `select count(*) from asset_watches`,
  'texts whose usage is not known': `select count(*) from text_objects where due_at is not null`,
  deliveries: `select count(*) from deliveries`,
  'reserved amounts': `select count(*) from limit_use where held <> 0`,
  'face checks whose person has come back': `
    select count(*) from face_verifications where status in ('callback_received', 'resolving')`,
  'face checks whose creation was killed': `
    select count(*) from face_verifications where kind = 'reserved' and expires_at > ${now}`,
})

/** Longer than the leases of a killed process, which take a minute. */
const patienceMs = 240_000
const pauseMs = 250

/** Waits until nothing goes on any more. Returns what does not end. */
export const settle = async (
  { processes, people }: Pick<KillWorld, 'processes' | 'people'>,
  tables: Tables,
): Promise<readonly string[]> => {
  for (let slot = 0; slot < processes.count; slot++) await processes.at(slot)
  const endsAt = Date.now() + patienceMs
  for (;;) {
    const left: string[] = []
    // Who looks at a limit settles what killed processes have held of it.
    await people[0]?.read('/api/limits')
    for (const [what, statement] of Object.entries(openAt(Date.now()))) {
      const count = await tables.count(statement)
      if (count > 0) left.push(`${what} do not end: ${count}`)
    }
    if (left.length === 0 || Date.now() > endsAt) return left
    await Bun.sleep(pauseMs)
  }
}
