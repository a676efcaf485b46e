import { type TSchema, Type } from '@sinclair/typebox'
import {
  errorBody,
  errorResponses,
  jsonBody,
  noStoreResponses,
  nullable,
  pathParameter,
  queryParameter,
  routesWithTag,
  type SchemaOf,
  successBody,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'
import type { EventMessage } from './frames.ts'

/** An event of the stream, as Eden yields it. */
export interface StreamedEvent {
  readonly id?: string
  readonly event: string
  readonly data: EventMessage
}

/** A webhook of the caller, without its secret. Times are ISO 8601, in UTC. */
export interface WebhookInfo {
  readonly id: string
  readonly url: string
  /** Types of events, and families such as `video.*`. Null: all. */
  readonly types: readonly string[] | null
  /**
   * `failing`: the last delivery has failed. `disabled`: nothing was accepted in a day, or the address is gone;
   * nothing is delivered any more.
   */
  readonly status: 'active' | 'failing' | 'disabled'
  /** Events that wait for it, up to 1,000. */
  readonly waiting: number
  readonly created_at: string
  /** When the address has accepted a delivery for the last time. */
  readonly delivered_at: string | null
  /** The first failed delivery after that. */
  readonly failing_since: string | null
  /** Why the last delivery has failed. */
  readonly last_error: string | null
  /** Nothing was accepted in a day, or the address is gone. Nothing is delivered any more. */
  readonly disabled_at: string | null
}

/** The body of a request for a webhook. */
export interface WebhookRequest {
  /** An http or https URL on the public internet, up to 2,048 characters. */
  readonly url: string
  /** Types of events, and families such as `video.*`. Default: all. */
  readonly types?: readonly string[] | null
}

/** The webhooks of the caller. */
export interface WebhookList {
  readonly success: true
  readonly webhooks: readonly WebhookInfo[]
}

/** The response to a request for a webhook: the only one with the secret. */
export interface CreatedWebhook {
  readonly success: true
  /** `secret` signs deliveries. Only this response contains it. */
  readonly webhook: WebhookInfo & { readonly secret: string }
}

/** The routes of `events` below its prefix, for Eden. */
export type EventRoutes = {
  events: {
    get: ServiceRoute<
      AsyncGenerator<StreamedEvent, void, unknown>,
      400 | 401 | 429 | 500 | 503,
      { query: { readonly types?: string; readonly last_event_id?: string } }
    >
  }
}

/** The routes of `events` with the option `webhooks`, below its prefix, for Eden. */
export type WebhookRoutes = {
  webhooks: {
    get: ServiceRoute<WebhookList, 401 | 429 | 500 | 503>
    post: ServiceRoute<
      CreatedWebhook,
      400 | 401 | 403 | 408 | 409 | 413 | 415 | 429 | 500 | 503,
      { body: WebhookRequest }
    >
    ':id': {
      delete: ServiceRoute<{ readonly success: true }, 401 | 403 | 404 | 429 | 500 | 503, { params: { id: string } }>
    }
  }
}

const message = Type.Object(
  {
    type: Type.String({ description: 'For example `video.succeeded`', examples: ['asset.active'] }),
    timestamp: Type.String({ description: 'ISO 8601, in UTC' }),
    data: Type.Object({}, { description: 'The object, with its id and new state', additionalProperties: true }),
  },
  { title: 'Event' },
)

const sentEvent = Type.Object(
  {
    id: Type.Optional(Type.String()),
    event: Type.String(),
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: message } as unknown as TSchema,
  },
  { title: 'SentEvent' },
)

const time = (description: string) => nullable(Type.String(), { description })
const types = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 50,
  description: 'Types of events, and families such as `video.*`',
})

const webhookFields = {
  id: Type.String(),
  url: Type.String(),
  types: nullable(types, { description: 'Null: all' }),
  status: Type.Union([Type.Literal('active'), Type.Literal('failing'), Type.Literal('disabled')]),
  waiting: Type.Integer({ minimum: 0, description: 'Events that wait for it, up to 1,000' }),
  created_at: Type.String({ description: 'ISO 8601, in UTC' }),
  delivered_at: time('When the address has accepted a delivery for the last time'),
  failing_since: time('The first failed delivery after that'),
  last_error: nullable(Type.String(), { description: 'Why the last delivery has failed' }),
  disabled_at: time('Nothing was accepted in a day, or the address is gone. Nothing is delivered any more'),
}

const webhookList: SchemaOf<WebhookList> = successOf('WebhookList', {
  webhooks: Type.Array(Type.Object(webhookFields, { title: 'Webhook' })),
})

const createdWebhook: SchemaOf<CreatedWebhook> = successOf('CreatedWebhook', {
  webhook: Type.Object({
    ...webhookFields,
    secret: Type.String({ pattern: '^whsec_', description: 'Signs deliveries. Only this response contains it' }),
  }),
})

const webhookRequest: SchemaOf<WebhookRequest> = Type.Object(
  {
    url: Type.String({ maxLength: 2048, description: 'An http or https URL on the public internet' }),
    types: Type.Optional(nullable(types, { description: 'Default: all' })),
  },
  { title: 'WebhookRequest' },
)

const webhookRoute = routesWithTag('webhooks')

/** Elysia options of the routes for webhooks. */
export const webhookDocs = {
  list: webhookRoute({
    operationId: 'listWebhooks',
    summary: "List the caller's webhooks",
    responses: noStoreResponses('The webhooks', webhookList, 401, 429, 500, 503),
  }),
  create: webhookRoute({
    operationId: 'createWebhook',
    summary: 'Add an address that is told of events',
    description:
      'Each event is a POST request with the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` of Standard Webhooks. An event that is not accepted with a status 2xx is sent again for a day.',
    requestBody: jsonBody(webhookRequest),
    responses: noStoreResponses('The webhook', createdWebhook, 400, 401, 403, 408, 409, 413, 415, 429, 500, 503),
  }),
  remove: webhookRoute({
    operationId: 'deleteWebhook',
    summary: "Delete one of the caller's webhooks, with all that waits for it",
    parameters: [pathParameter('id', 'Id of the webhook')],
    responses: noStoreResponses('Deleted', successBody, 401, 403, 404, 429, 500, 503),
  }),
}

const route = routesWithTag('events')

/** Elysia options of each route. */
export const eventDocs = {
  stream: route({
    operationId: 'streamEvents',
    summary: "Follow changes of the caller's video tasks, assets and face verifications",
    description:
      'Server-sent events. A client that sends `Last-Event-ID` receives what it has missed; `stream.gap` tells that events may be missing. `stream.start` and `stream.end` are about the stream itself.',
    parameters: [
      queryParameter('types', 'Types of events, or families such as `video.*`, separated by commas. Default: all'),
      queryParameter('last_event_id', 'For clients that cannot set the header `Last-Event-ID`'),
      {
        ...{ name: 'last-event-id', in: 'header', required: false },
        description: 'Id of the last event that the client has received',
        schema: Type.String(),
      },
    ],
    responses: {
      200: { description: 'The events', content: { 'text/event-stream': { itemSchema: sentEvent } } },
      ...errorResponses(errorBody, 400, 401, 429, 500, 503),
    },
  }),
}
