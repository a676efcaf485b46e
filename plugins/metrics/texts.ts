import { Counter, type Registry } from 'prom-client'
import { TextCounts, type TextTokens } from './requests.ts'

/** The metrics of text generation. */
export interface TextMetrics {
  /**
   * Counts a call of text generation: whether the upstream accepted it, its tokens if the upstream reported them, and
   * its cost in billionths.
   */
  text(call: { model: string; accepted: boolean; tokens: TextTokens | undefined; cost?: number | undefined }): void
}

export const createTextMetrics = (registers: Registry[]): TextMetrics => {
  const texts = new Map<string, TextCounts>()
  new Counter({
    name: 'sluice_text_calls_total',
    help: 'Calls of text generation; reported: whether the upstream reported tokens.',
    labelNames: ['model', 'reported'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, unreported }] of texts) {
        if (reported > 0) this.inc({ model, reported: 'true' }, reported)
        if (unreported > 0) this.inc({ model, reported: 'false' }, unreported)
      }
    },
  })
  new Counter({
    name: 'sluice_text_tokens_total',
    help: 'Tokens of text generation; cached_input is part of input, reasoning is part of output.',
    labelNames: ['model', 'kind'],
    registers,
    collect() {
      this.reset()
      for (const [model, { reported, tokens }] of texts) {
        if (reported > 0) for (const [kind, count] of Object.entries(tokens)) this.inc({ model, kind }, count)
      }
    },
  })
  new Counter({
    name: 'sluice_text_cost_total',
    help: 'Cost of text generation in the currency of the price table. Models without a price are left out.',
    labelNames: ['model'],
    registers,
    collect() {
      this.reset()
      for (const [model, { cost }] of texts) if (cost !== undefined) this.inc({ model }, cost / 1_000_000_000)
    },
  })
  const modelLabel = boundedLabel()
  return {
    text({ model: name, accepted, tokens, cost }) {
      const model = modelLabel(name, accepted)
      let counts = texts.get(model)
      if (!counts) {
        counts = new TextCounts()
        texts.set(model, counts)
      }
      counts.add(tokens, cost)
    },
  }
}

/**
 * Number of models with a label of their own: the first that an upstream has accepted a call for. All others share the
 * label `other`.
 */
const maxModels = 200

/**
 * Model names without control characters, which could break the text format, and without lone surrogates, which would
 * merge different labels.
 */
const plainName = /^[^\p{Cc}\p{Cs}]{1,256}$/u

const boundedLabel = () => {
  const known = new Set<string>()
  return (name: string, accepted: boolean): string => {
    if (known.has(name)) return name
    if (!accepted || known.size === maxModels || !plainName.test(name)) return 'other'
    known.add(name)
    return name
  }
}
