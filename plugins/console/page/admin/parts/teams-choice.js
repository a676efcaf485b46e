import { useLoaded } from '../../frame/hooks.js'
import { useAdminApi } from './admin-api.js'

/** Teams that a choice shows. There are few: a team is a name that operators give. */
const maxTeams = 1_000

/**
 * All teams, for a choice of one: `[id, name]`. The first choice has the empty id.
 * @param {string} first
 * @param {{ id: string, name: string | null }} [current] a team that stands in the choice before the others are loaded
 * @returns {readonly (readonly [string, string])[]}
 */
export const useTeamChoices = (first, current) => {
  const admin = useAdminApi()
  const loaded = useLoaded(async (signal) => {
    /** @type {import('../teams/teams.js').Team[]} */
    const teams = []
    let cursor
    do {
      const page = await admin.read('/teams', { limit: '200', cursor }, signal)
      teams.push(...page.teams)
      cursor = page.next_cursor
    } while (cursor && teams.length < maxTeams)
    return teams
  }, [])
  const teams = (loaded.value ?? []).map(({ id, name }) => /** @type {const} */ ([id, name]))
  const isKnown = !current || teams.some(([id]) => id === current.id)
  return [['', first], ...teams, ...(isKnown ? [] : [/** @type {const} */ ([current.id, current.name ?? current.id])])]
}
