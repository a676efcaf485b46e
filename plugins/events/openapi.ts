import { type TSchema, Type } from '@sinclair/typebox'
import {
  type ErrorBody,
  errorBody,
  errorResponses,
  type OperationDescription,
  queryParameter,
  type RouteOptions,
  routeOptions,
} from '../shared/openapi.ts'
import type { Responses, Route } from '../shared/plugin.ts'
import type { EventMessage } from './frames.ts'

/** An event of the stream, as Eden yields it. */
export interface StreamedEvent {
  readonly id?: string
  readonly event: string
  readonly data: EventMessage
}

/** The routes of `events` below its prefix, for Eden. */
export type EventRoutes = {
  events: {
    get: Route<
      Responses<AsyncGenerator<StreamedEvent, void, unknown>, ErrorBody, 400 | 401 | 429 | 500 | 503>,
      { query: { readonly types?: string; readonly last_event_id?: string } }
    >
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

const route = (operation: Omit<OperationDescription, 'tags'>): RouteOptions =>
  routeOptions({ ...operation, tags: ['events'] })

/** Elysia options of each route. */
export const eventDocs = {
  stream: route({
    operationId: 'streamEvents',
    summary: "Follow changes of the caller's video tasks, assets and face verifications",
    description:
      'Server-sent events. A client that sends `Last-Event-ID` receives what it has missed; `stream.gap` tells that events may be missing. `stream.start` and `stream.end` are about the stream itself.',
    parameters: [
      queryParameter(
        'types',
        'Types of events, or families such as `video.*`, separated by commas. Default: all',
        Type.String(),
      ),
      queryParameter('last_event_id', 'For clients that cannot set the header `Last-Event-ID`', Type.String()),
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
