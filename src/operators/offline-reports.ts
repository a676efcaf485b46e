import type { SystemReports } from '../../plugins/admin/operations/system.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { nameOf } from '../../plugins/text-generation/models/routing.ts'
import { createUpstreamStates } from '../app/upstreams/states.ts'
import type { Problems } from '../config/environment/reader.ts'
import { configFromEnvironment, settingsInForce } from '../config.ts'
import type { Store } from '../store/index.ts'
import { createUpstreamReport } from './upstreams.ts'

/**
 * What a process that serves no requests can say about the server: its settings, and what the database knows of its
 * upstreams. Returns the problems of settings that are not valid.
 */
export const offlineReports = (store: Store): SystemReports | Problems => {
  const config = configFromEnvironment()
  if ('problems' in config) return config
  const states = createUpstreamStates({
    assets: config.media.accounts?.map(({ name }) => name) ?? config.media.upstream !== undefined,
    texts: config.text.upstreams.map(nameOf),
    video:
      config.video.upstream !== undefined || (config.media.accounts ?? []).some(({ video }) => video !== undefined),
  })
  const report = createUpstreamReport({ config, store, clock: systemClock })
  return { upstreams: () => report(states.reports()), settings: () => settingsInForce(config) }
}
