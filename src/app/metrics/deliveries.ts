import { Counter, Histogram, type Registry } from 'prom-client'
import type { DeliveryOutcome } from '../../../plugins/events/index.ts'

/** Adds the metrics of webhooks to a registry. Returns a function that counts an attempt of a delivery. */
export const countDeliveries = (registry: Registry): ((outcome: DeliveryOutcome) => void) => {
  const registers = [registry]
  const attempts = new Counter({
    name: 'sluice_webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, or a state to a callback address; status 0: no response.',
    labelNames: ['kind', 'status'],
    registers,
  })
  const seconds = new Histogram({
    name: 'sluice_webhook_seconds',
    help: 'Duration of these attempts.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 10],
    registers,
  })
  return (outcome) => {
    attempts.inc({ kind: outcome.kind, status: outcome.status })
    seconds.observe(outcome.seconds)
  }
}
