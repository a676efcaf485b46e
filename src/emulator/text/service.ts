import type { Account } from '../account.ts'
import type { ReceivedRequest } from '../action.ts'
import type { OpenCall } from '../calls.ts'
import type { AppliedFault } from '../faults/registry.ts'
import type { Settings } from '../options.ts'
import { splitTarget } from '../shared/paths.ts'
import type { Json } from '../shared/reader.ts'
import { catalogueOf, modelObject } from './catalogue.ts'
import { faultySteps } from './faults/fault-steps.ts'
import { generate, textGeneration } from './generation/generation.ts'
import { createPromptCache } from './generation/prompt-cache.ts'
import { type Scenarios, sceneOf } from './generation/scenario.ts'
import { usageOf } from './generation/usage.ts'
import { conversationCalls, createConversation } from './objects/conversations.ts'
import type { TextObjects } from './objects/objects.ts'
import { storedOf } from './objects/stored.ts'
import { createdInBackground, responseCalls } from './objects/stored-calls.ts'
import { OpenAIError } from './openai-error.ts'
import { type CallContext, textIdOf } from './output/call-context.ts'
import { chunksOf, completionOf } from './output/chat.ts'
import { compactedOf, summaryOf } from './output/compaction.ts'
import { createCompletion } from './output/completions.ts'
import { createEmbeddings } from './output/embeddings.ts'
import { type PlaybackContext, play } from './output/playback.ts'
import { responseEvents, responseOf } from './output/responses.ts'
import { jsonSteps, type Steps, streamSteps } from './output/steps.ts'
import { createQuota } from './quota.ts'
import { checkChatOnly } from './request/chat-only.ts'
import { readChat } from './request/chat-request.ts'
import { readResponses } from './request/responses-request.ts'
import { checkKnown } from './request/unknown-fields.ts'
import { authorize, bodyOf } from './routes.ts'

/** Overrides of how a response is generated. */
interface GenerationOverrides {
  /** overrides `stream` of the request */
  readonly streams?: boolean
  /** chat: adds the usage so far to every chunk */
  readonly usageOnEveryChunk?: boolean
}

/** Handles requests to the text APIs. */
export type Service = (request: ReceivedRequest, callContext: CallContext, overrides: GenerationOverrides) => Steps

/** What the service reads and changes. */
export interface ServiceState {
  readonly settings: Settings
  readonly objects: TextObjects
  readonly scenarios: Scenarios
}

/** Creates the service of an account. */
const createService = ({ settings, objects, scenarios }: ServiceState): Service => {
  const { text, clock } = settings
  const catalogue = catalogueOf(text.models)
  const quota = createQuota(text, clock)
  const cache = createPromptCache()
  const objectCalls = { ...responseCalls(settings, objects), ...conversationCalls(objects) }

  const perform = (request: ReceivedRequest, callContext: CallContext, overrides: GenerationOverrides): Steps => {
    const { action, id, chatOnly } = authorize(request, text.key)
    if (action === 'ListModels') return jsonSteps(200, { object: 'list', data: catalogue.list.map(modelObject) })
    if (action === 'GetModel') return jsonSteps(200, modelObject(catalogue.find(id)))
    const objectCall = objectCalls[action]
    if (objectCall !== undefined) return objectCall(id, new URLSearchParams(splitTarget(request.target)[1]))
    const body = bodyOf(request)
    if (action === 'CreateConversation') return createConversation(body, objects, callContext)
    if (action === 'CountInputTokens') return inputTokens(body, callContext)
    quota.take(String(body.model))
    switch (action) {
      case 'CreateEmbedding':
        return embeddings(body)
      case 'CreateCompletion':
        return completion(body, callContext, overrides)
      case 'CompactResponse':
        return compacted(body, callContext)
      case 'CreateResponse':
        if (text.rejectUnknownFields) checkKnown(body, 'responses')
        return responses(body, callContext, overrides)
      default:
        if (text.rejectUnknownFields) checkKnown(body, 'chat')
        if (chatOnly) checkChatOnly(body)
        return chat(body, callContext, overrides)
    }
  }

  const embeddings = (body: Json): Steps => {
    const { steps, tokens } = createEmbeddings(body, catalogue)
    quota.spend(tokens)
    return steps
  }

  const completion = (body: Json, callContext: CallContext, { streams }: GenerationOverrides): Steps => {
    const made = createCompletion(body, catalogue, callContext)
    quota.spend(made.usage.input + made.usage.output)
    return (streams ?? made.streams) ? streamSteps(made.events()) : nonStreaming(made.body(), made.usage.output)
  }

  const chat = (body: Json, callContext: CallContext, { streams, usageOnEveryChunk }: GenerationOverrides): Steps => {
    const validated = readChat(body, catalogue, objects)
    const generations = generate(validated.prompt, sceneOf(validated.prompt, scenarios.list()))
    const usage = usageOf(validated.prompt, generations, cache.use(validated.prompt))
    quota.spend(usage.input + usage.output)
    const generated = { request: validated, generations, usage, callContext, usageOnEveryChunk }
    return (streams ?? validated.streams)
      ? streamSteps(chunksOf(generated))
      : nonStreaming(completionOf(generated), usage.output)
  }

  const responses = (body: Json, callContext: CallContext, { streams }: GenerationOverrides): Steps => {
    const validated = readResponses(body, catalogue, objects, callContext)
    const [generation] = validated.compacts
      ? [textGeneration(summaryOf(validated))]
      : generate(validated.prompt, sceneOf(validated.prompt, scenarios.list()))
    if (generation === undefined) throw new Error('nothing was generated')
    const usage = usageOf(validated.prompt, [generation], cache.use(validated.prompt))
    quota.spend(usage.input + usage.output)
    const generated = { request: validated, generation, usage, callContext }
    const stored = storedOf(generated)
    objects.keep(stored)
    if (validated.background) return createdInBackground(stored, settings, objects)
    return (streams ?? validated.streams)
      ? streamSteps(responseEvents(generated, text.doneOnResponses))
      : nonStreaming(responseOf(generated), usage.output)
  }

  const compacted = (body: Json, callContext: CallContext): Steps => {
    const validated = readResponses({ input: [], ...body }, catalogue, objects, callContext)
    const usage = usageOf(validated.prompt, [textGeneration(summaryOf(validated))])
    quota.spend(usage.input + usage.output)
    return nonStreaming(compactedOf(validated, usage, callContext), usage.output)
  }

  const inputTokens = (body: Json, callContext: CallContext): Steps => {
    const [model] = catalogue.list.filter(({ responses }) => responses)
    const { prompt } = readResponses({ model: model?.id, input: [], ...body }, catalogue, objects, callContext)
    return jsonSteps(200, { object: 'response.input_tokens', input_tokens: usageOf(prompt, []).input })
  }

  const stepsOf = (request: ReceivedRequest, callContext: CallContext, overrides: GenerationOverrides): Steps => {
    try {
      return perform(request, callContext, overrides)
    } catch (error) {
      const refusal =
        error instanceof OpenAIError ? error : new OpenAIError(500, String(error), { type: 'server_error' })
      return jsonSteps(refusal.status, refusal.body, refusal.details.headers)
    }
  }
  const headersFor = (callContext: CallContext): Record<string, string> => ({
    'x-request-id': textIdOf('req_', callContext),
    'openai-processing-ms': String(Math.max(0, Math.round(clock() - callContext.at))),
    'openai-version': '2020-10-01',
    ...quota.headers(),
  })

  return function* (request, callContext, overrides) {
    for (const step of stepsOf(request, callContext, overrides)) {
      yield step.do === 'head' ? { ...step, headers: { ...headersFor(callContext), ...step.headers } } : step
    }
  }
}

function* nonStreaming(body: object, tokens: number): Steps {
  yield { do: 'pause', deltas: tokens }
  yield* jsonSteps(200, body)
}

/** A text generation request with everything needed for its response. */
export interface TextCall extends Pick<PlaybackContext, 'incoming' | 'response' | 'onClose'> {
  readonly request: ReceivedRequest
  readonly call: OpenCall
  readonly number: number
  readonly appliedFaults: readonly AppliedFault[]
  /** aborted when the caller has disconnected or the emulator stops */
  readonly signal: AbortSignal
}

/** Creates the function that responds to text generation requests. */
export const createTextHandler = (account: Account) => {
  const perform = createService(account)
  const { key, msPerDelta, sleep } = account.settings.text
  return ({ request, call, number, appliedFaults, ...stage }: TextCall): Promise<void> => {
    const work = perform(request, { number, at: call.at }, overridesOf(appliedFaults))
    const onStatus = (status: number) => {
      call.status = status
    }
    return play(faultySteps(work, appliedFaults, call, key), { ...stage, msPerDelta, sleep, onStatus })
  }
}

/** Faults that change how the response is generated. They cannot be applied to the finished response. */
const overridesOf = (appliedFaults: readonly AppliedFault[]): GenerationOverrides => {
  const applies = (kind: string) =>
    appliedFaults.filter(({ fault }) => fault.kind === kind).map(({ hit }) => hit()).length > 0
  const json = applies('json-to-stream')
  const stream = applies('stream-to-json')
  return { ...(json || stream ? { streams: stream } : {}), usageOnEveryChunk: applies('usage-on-every-chunk') }
}
