import type { AdminOptions } from '../../plugins/admin/index.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import type { UsageLimits } from '../../plugins/usage-limits/index.ts'
import type { Store } from '../store/index.ts'
import { createAdminVideos } from './videos.ts'

/** What the admin API of the default server gets from its other parts. */
export interface AdminParts extends Pick<AdminOptions, 'identify' | 'publicUrl' | 'secrets'> {
  readonly store: Store
  readonly usageLimits: UsageLimits
}

/** The options of the admin API of the default server. */
export const adminOptions = ({ store, usageLimits, ...parts }: AdminParts): AdminOptions => ({
  ...parts,
  store,
  idempotency: store.idempotency,
  videos: createAdminVideos(store, systemClock),
  limits: (user) => usageLimits.report({ user }),
})
