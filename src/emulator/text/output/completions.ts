import type { Json, Reader } from '../../shared/reader.ts'
import type { Catalogue, Model } from '../catalogue.ts'
import { type Generation, generate } from '../generation/generation.ts'
import type { Prompt } from '../generation/prompt.ts'
import { logprobOf } from '../generation/tokens.ts'
import { chatUsage, type Usage, usageOf } from '../generation/usage.ts'
import { badRequest, missingField, wrongType } from '../openai-error.ts'
import { readerOf } from '../reader.ts'
import { checkPrompt, readModel, readSampling, readStream } from '../request/model-limits.ts'
import { stopsOf } from '../request/stops.ts'
import { type CallContext, fingerprintOf, secondsOf, textIdOf } from './call-context.ts'
import { delta, eventOf, type Steps } from './steps.ts'

/** Default of `max_tokens`. */
const defaultTokens = 16

/** A generated text completion. */
export interface Completion {
  readonly streams: boolean
  readonly usage: Usage
  readonly body: () => object
  readonly events: () => Steps
}

/** Validates a request for text completions and generates them. Throws a `OpenAIError`. */
export const createCompletion = (body: Json, catalogue: Catalogue, callContext: CallContext): Completion => {
  const request = readerOf(body)
  const model = readModel(request, catalogue, 'completions')
  const { streams, options } = readStream(request, model)
  const prompts = promptsOf(request, model)
  const logprobs = request.integer('logprobs', 0, 5)
  const echo = request.boolean('echo') ?? false
  const generated = prompts.map((prompt) => generate(prompt))
  const usages = prompts.map((prompt, index) => usageOf(prompt, generated[index] ?? []))
  const sum = (field: keyof Usage) => usages.reduce((total, usage) => total + usage[field], 0)
  const usage = { input: sum('input'), output: sum('output'), reasoning: 0, cached: 0, written: 0 }
  const common = {
    ...{ id: textIdOf('cmpl-', callContext), object: 'text_completion', created: secondsOf(callContext) },
    ...{ model: model.id, system_fingerprint: fingerprintOf(model.id, undefined) },
  }
  const choices = generated.flatMap((generations, at) => {
    const prefix = echo ? [textOf(prompts[at])] : []
    return generations.map(({ text, finish }): Choice => ({ tokens: [...prefix, ...text], finish }))
  })
  const choiceOf = (tokens: readonly string[], index: number, finish: Choice['finish'] | null) => ({
    ...{ text: tokens.join(''), index, finish_reason: finish },
    logprobs: logprobs === undefined ? null : logprobsOf(tokens, logprobs),
  })
  return {
    streams,
    usage,
    body: () => ({
      ...common,
      choices: choices.map(({ tokens, finish }, index) => choiceOf(tokens, index, finish)),
      usage: chatUsage(usage),
    }),
    *events() {
      const includesUsage = options?.boolean('include_usage') ?? false
      const chunk = (more: object) => eventOf({ ...common, ...(includesUsage ? { usage: null } : {}), ...more })
      for (const [index, { tokens, finish }] of choices.entries()) {
        for (const token of tokens) yield* delta(chunk({ choices: [choiceOf([token], index, null)] }))
        yield chunk({ choices: [choiceOf([], index, finish)] })
      }
      if (includesUsage) yield chunk({ choices: [], usage: chatUsage(usage) })
      yield eventOf('[DONE]')
    },
  }
}

interface Choice {
  readonly tokens: readonly string[]
  readonly finish: Generation['finish']
}

const textOf = (prompt: Prompt | undefined): string => prompt?.turns[0]?.text ?? ''

const promptsOf = (request: Reader, model: Model): Prompt[] => {
  const count = request.integer('n', 1, 128) ?? 1
  const best = request.integer('best_of', 1, 20) ?? count
  if (best < count) {
    throw badRequest('best_of', 'invalid_value', "You requested that the server return more choices than 'best_of'.")
  }
  const shared = {
    ...{ model, referenced: [], tools: [], choice: 'none' as const, parallel: false, schema: undefined },
    maxTokens: Math.min(request.integer('max_tokens', 0, model.maxTokens) ?? defaultTokens, model.maxTokens),
    ...{ stops: stopsOf(request), count, ...readSampling(request, model) },
    ...{ searches: false, topLogprobs: undefined, reasons: false },
  }
  return textsOf(request).map((text) =>
    checkPrompt({ ...shared, turns: [{ role: 'user', text, attachments: 0 }] }, 'prompt'),
  )
}

/** The prompts: one or several texts, or lists of token ids. */
const textsOf = (request: Reader): string[] => {
  const given = request.raw.prompt ?? undefined
  if (given === undefined) throw missingField('prompt')
  const list: readonly unknown[] = Array.isArray(given) && typeof given[0] !== 'number' ? given : [given]
  return list.map((one) => {
    if (typeof one === 'string') return one
    if (Array.isArray(one) && one.every((id) => Number.isInteger(id))) return one.join(' ')
    throw wrongType('prompt', 'a string, an array of strings, or an array of tokens', one)
  })
}

const logprobsOf = (tokens: readonly string[], top: number): object => {
  const all = tokens.map((token) => logprobOf(token, top) as { logprob: number; top_logprobs: readonly Top[] })
  let offset = 0
  return {
    tokens,
    token_logprobs: all.map(({ logprob }) => logprob),
    top_logprobs: all.map(({ top_logprobs }) =>
      Object.fromEntries(top_logprobs.map(({ token, logprob }) => [token, logprob])),
    ),
    text_offset: tokens.map((token) => {
      offset += token.length
      return offset - token.length
    }),
  }
}

interface Top {
  readonly token: string
  readonly logprob: number
}
