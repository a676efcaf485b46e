import { Type } from '@sinclair/typebox'
import {
  type ErrorBody,
  errorBody,
  forwardedErrors,
  jsonBody,
  jsonResponse,
  noStoreHeader,
  type OperationDescription,
  pathParameter,
  queryParameter,
  type RouteOptions,
  routeOptions,
  type SchemaOf,
  type UpstreamErrorBody,
} from '../shared/plugin/openapi.ts'
import type { Responses, Route, RouteParts } from '../shared/plugin/plugin.ts'
import { verificationStatuses } from './status.ts'

/** The response to a created verification. */
export interface CreatedVerification {
  readonly verification_id: string
  /** One of `verificationStatuses`. */
  readonly status: string
  /** The address that the person opens on a phone. A secret, which only this response contains. */
  readonly h5_url: string
  /** Seconds since 1970. */
  readonly expires_at: number
}

/** The response to a query. */
export interface VerificationState {
  readonly verification_id: string
  /** One of `verificationStatuses`. */
  readonly status: string
  /** The LivenessFace group, once the status is `verified`. */
  readonly group_id?: string
}

type FaceRoute<Success, Parts extends RouteParts> = Route<
  Responses<Success, ErrorBody | UpstreamErrorBody, 400 | 401 | 403 | 404 | 408 | 413 | 415 | 429 | 500 | 502 | 503>,
  Parts
>

/** The routes of `faceVerification` below its prefix, for Eden. */
export type FaceRoutes = {
  post: FaceRoute<CreatedVerification, { body: { readonly [field: string]: unknown } | undefined }>
  ':verification_id': { get: FaceRoute<VerificationState, { params: { verification_id: string } }> }
}

const status = Type.String({ description: verificationStatuses.join(', ') })

const created: SchemaOf<CreatedVerification> = Type.Object(
  {
    verification_id: Type.String(),
    status,
    h5_url: Type.String({
      description: 'The address that the person opens on a phone. It is a secret, and only this response contains it',
    }),
    expires_at: Type.Integer({ description: 'Seconds since 1970' }),
  },
  { title: 'CreatedVerification' },
)

const queried: SchemaOf<VerificationState> = Type.Object(
  {
    verification_id: Type.String(),
    status,
    group_id: Type.Optional(Type.String({ description: 'The LivenessFace group, once the status is verified' })),
  },
  { title: 'VerificationState' },
)

const route = (
  operation: Pick<OperationDescription, 'operationId' | 'summary' | 'parameters' | 'requestBody' | 'responses'>,
): RouteOptions =>
  routeOptions({
    ...operation,
    tags: ['face verification'],
    responses: {
      ...operation.responses,
      ...forwardedErrors(errorBody, 400, 401, 403, 404, 408, 413, 415, 429, 500, 502, 503),
    },
  })

const page = (description: string) => ({ description, content: { 'text/html': { schema: Type.String() } } })

/** Elysia options of each route. */
export const faceDocs = {
  create: route({
    operationId: 'createFaceVerification',
    summary: 'Start a face verification',
    requestBody: jsonBody(Type.Object({}, { description: 'Forwarded to the upstream' }), false),
    responses: { 200: jsonResponse('The verification', created, noStoreHeader) },
  }),
  query: route({
    operationId: 'getFaceVerification',
    summary: 'Get the status of a face verification',
    parameters: [pathParameter('verification_id', "Id of one of the caller's verifications")],
    responses: { 200: jsonResponse('The status', queried, noStoreHeader) },
  }),
  callback: {
    detail: routeOptions({
      operationId: 'showFaceVerificationResult',
      summary: 'The page to which the upstream redirects the phone of the person',
      tags: ['face verification'],
      security: [],
      parameters: [
        pathParameter('state', 'Identifies the verification. A secret'),
        queryParameter('resultCode', '10000: the person has passed the check'),
        queryParameter('bytedToken', 'Token of the session'),
      ],
      responses: {
        200: page('The page. It tells the person what to do next'),
        404: page('The page, for a state that is unknown'),
        500: page('The page, when the result cannot be recorded now'),
        503: { description: 'The browser prefetches the page. It has to request the page again' },
      },
    }).detail,
  },
}
