import type { KillWorld } from '../world.ts'
import type { Tables } from './tables.ts'

/** Each upload is kept once. One without an answer may be, too. */
export const checkUploads = async ({ history, people }: KillWorld, tables: Tables): Promise<readonly string[]> => {
  const problems: string[] = []
  for (const { id, name } of people) {
    const mine = [...history.creations.values()].filter(({ kind, user }) => kind === 'upload' && user === id)
    const known = mine.filter(({ outcome }) => outcome === 'acknowledged').length
    const unknown = mine.filter(({ outcome }) => outcome === 'unknown').length
    const kept = await tables.count(`select count(*) from files where kind = 'upload' and user_id = '${id}'`)
    if (kept < known || kept > known + unknown)
      problems.push(`${kept} uploads of ${name} are kept, of ${known} with an answer and ${unknown} without`)
  }
  return problems
}
