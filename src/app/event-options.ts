import { createTargetRules, targetProblem } from '../../plugins/events/index.ts'
import { Problem } from '../../plugins/shared/problem.ts'
import type { Config } from '../config.ts'
import type { AppOptions } from './options.ts'

type EventOptions = AppOptions['events']
type Sessions = Pick<NonNullable<EventOptions['webhooks']>, 'identify' | 'publicUrl' | 'store'>

/** The options of events and webhooks. @param sessions for the routes of webhooks */
export const eventOptions = (
  { events: { keepMs, webhookNetworks: networks } }: Pick<Config, 'events'>,
  options: Pick<EventOptions, 'store' | 'identify' | 'background'>,
  sessions: Sessions,
): EventOptions => ({ ...options, keepMs, webhooks: { ...sessions, networks } })

/** Throws Problem 400 for an address of a request to which nothing may be sent. */
export const createCallbackCheck = ({ events }: Pick<Config, 'events'>): ((url: string) => void) => {
  const rules = createTargetRules(events.webhookNetworks)
  return (url) => {
    const problem = targetProblem(url, rules)
    if (problem !== undefined) throw new Problem(400, `callback_url ${problem}`)
  }
}
