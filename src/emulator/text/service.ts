import type { Settings } from '../settings.ts'
import type { Received } from '../shape.ts'
import { catalogueOf, modelObject } from './catalogue.ts'
import { chunksOf, completionOf } from './chat.ts'
import { readChat } from './chat-request.ts'
import { conversationCalls, createConversation } from './conversations.ts'
import { generate } from './generation.ts'
import { idOf, type Occasion } from './identity.ts'
import type { TextObjects } from './objects.ts'
import { createQuota } from './quota.ts'
import type { Json } from './reader.ts'
import { TextRefusal } from './refusal.ts'
import { responseEvents, responseOf } from './responses.ts'
import { readResponses } from './responses-request.ts'
import { admitted, bodyOf } from './routes.ts'
import { jsonSteps, type Steps, streamSteps } from './steps.ts'
import { storedOf } from './stored.ts'
import { createdInBackground, responseCalls } from './stored-calls.ts'
import { checkKnown } from './unknown-fields.ts'
import { usageOf } from './usage.ts'

/** How an answer is to be given, whatever was asked. */
export interface Manner {
  /** overrides `stream` of the request */
  readonly streams?: boolean
  /** usage so far on every chunk */
  readonly counting?: boolean
}

/** Does the work of text calls. */
export type Service = (request: Received, occasion: Occasion, manner: Manner) => Steps

export function createService(settings: Settings, objects: TextObjects): Service {
  const { text, clock } = settings
  const catalogue = catalogueOf(text.models)
  const quota = createQuota(text, clock)
  const objectCalls = { ...responseCalls(settings, objects), ...conversationCalls(objects) }

  function perform(request: Received, occasion: Occasion, manner: Manner): Steps {
    const { action, id } = admitted(request, text.key)
    if (action === 'ListModels') return jsonSteps(200, { object: 'list', data: catalogue.list.map(modelObject) })
    if (action === 'GetModel') return jsonSteps(200, modelObject(catalogue.find(id)))
    const about = objectCalls[action]
    if (about !== undefined) return about(id, new URLSearchParams(request.target.split(/\?(.*)/s)[1]))
    const body = bodyOf(request)
    if (action === 'CreateConversation') return createConversation(body, objects, occasion)
    quota.take(String(body.model))
    const protocol = action === 'CreateResponse' ? 'responses' : 'chat'
    if (text.refuseUnknown) checkKnown(body, protocol)
    return (protocol === 'chat' ? chat : responses)(body, occasion, manner)
  }

  function chat(body: Json, occasion: Occasion, { streams, counting }: Manner): Steps {
    const asked = readChat(body, catalogue, objects)
    const generations = generate(asked.prompt)
    const usage = usageOf(asked.prompt, generations)
    quota.spend(usage.input + usage.output)
    const answer = { request: asked, generations, usage, occasion, counting }
    return (streams ?? asked.streams) ? streamSteps(chunksOf(answer)) : plain(completionOf(answer), usage.output)
  }

  function responses(body: Json, occasion: Occasion, { streams }: Manner): Steps {
    const asked = readResponses(body, catalogue, objects, occasion)
    const [made] = generate(asked.prompt)
    if (made === undefined) throw new Error('nothing was generated')
    const usage = usageOf(asked.prompt, [made])
    quota.spend(usage.input + usage.output)
    const answer = { request: asked, made, usage, occasion }
    const stored = storedOf(answer)
    objects.keep(stored)
    if (asked.background) return createdInBackground(stored, settings, objects)
    return (streams ?? asked.streams)
      ? streamSteps(responseEvents(answer, text.doneOnResponses))
      : plain(responseOf(answer), usage.output)
  }

  return function* (request, occasion, manner) {
    for (const step of workOf(request, occasion, manner)) {
      yield step.do === 'head' ? { ...step, headers: { ...headersFor(occasion), ...step.headers } } : step
    }
  }

  function workOf(request: Received, occasion: Occasion, manner: Manner): Steps {
    try {
      return perform(request, occasion, manner)
    } catch (error) {
      const refusal =
        error instanceof TextRefusal ? error : new TextRefusal(500, String(error), { type: 'server_error' })
      return jsonSteps(refusal.status, refusal.body, refusal.details.headers)
    }
  }

  function headersFor(occasion: Occasion): Record<string, string> {
    return {
      'x-request-id': idOf('req_', occasion),
      'openai-processing-ms': String(Math.max(0, Math.round(clock() - occasion.at))),
      'openai-version': '2020-10-01',
      ...quota.headers(),
    }
  }
}

function* plain(answer: object, tokens: number): Steps {
  yield { do: 'pause', deltas: tokens }
  yield* jsonSteps(200, answer)
}
