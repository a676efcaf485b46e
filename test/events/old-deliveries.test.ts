import { expect, test } from 'bun:test'
import { createTargetRules } from '../../plugins/events/address/address.ts'
import { deliver } from '../../plugins/events/webhooks/deliver.ts'
import { Background } from '../../plugins/shared/background/background.ts'
import { systemClock } from '../../plugins/shared/clock.ts'
import { noLog } from '../../plugins/shared/problem.ts'
import { openStore } from '../../src/store/index.ts'

test('deliveries that are too old are removed in steps, between which others are sent', async () => {
  const store = openStore('sqlite::memory:')
  await store.migrate()
  const background = new Background()
  const steps: string[] = []
  const done = Promise.withResolvers<void>()
  let old = 3_500
  deliver({
    store: {
      ...store,
      async sweepDeliveries(_, max) {
        const swept = Math.min(old, max)
        old -= swept
        steps.push(`${swept}`)
        return swept
      },
      async isDeliveryDue() {
        if (steps.push('search') > 12) done.resolve()
        return false
      },
    },
    ...{ onEvents: store.onEvents, rules: createTargetRules(), background, clock: systemClock, log: noLog, everyMs: 1 },
  })
  await done.promise
  await background.stop()
  await store.close()
  expect(steps.slice(0, 10)).toEqual([
    ...['1000', 'search', '1000', 'search', '1000', 'search', '500', 'search'],
    ...['search', 'search'],
  ])
})
