import { Type } from '@sinclair/typebox'
import {
  type ErrorBody,
  errorBody,
  errorResponses,
  noStoreHeader,
  type OperationDescription,
  queryParameter,
  type ResponseDescription,
  type RouteOptions,
  routeOptions,
} from '../shared/plugin/openapi.ts'
import type { Route } from '../shared/plugin/plugin.ts'

type Failures<Status extends number> = { [Each in Status]: ErrorBody }

/** The routes of `oidcLogin` below its prefix, for Eden. Browsers open them; they respond with redirects and pages. */
export type OidcRoutes = {
  get: Route<Failures<400 | 403 | 429 | 500 | 502 | 503>>
  callback: { get: Route<Failures<400 | 403 | 409 | 429 | 500 | 502 | 503>> }
}

const redirect = (description: string, cookie: string): ResponseDescription => ({
  description,
  headers: {
    ...noStoreHeader,
    location: { description: 'Where the browser continues', required: true, schema: Type.String() },
    'set-cookie': { description: cookie, required: true, schema: Type.String() },
  },
})

const route = (operation: Omit<OperationDescription, 'tags' | 'security'>): RouteOptions =>
  routeOptions({ ...operation, security: [], tags: ['web session'] })

/** Errors for browsers are pages. */
const failures = (...statuses: readonly (400 | 403 | 409 | 429 | 500 | 502 | 503)[]) =>
  Object.fromEntries(
    Object.entries(errorResponses(errorBody, ...statuses)).map(([status, response]) => [
      status,
      { ...response, content: { ...response.content, 'text/html': { schema: Type.String() } } },
    ]),
  )

/** Elysia options of each route. */
export const oidcDocs = {
  start: route({
    operationId: 'startOidcLogin',
    summary: 'Log in at the identity provider',
    description:
      'For browsers: redirects to the identity provider (OpenID Connect Core 1.0, authorization code flow with PKCE).',
    parameters: [
      queryParameter(
        'return_to',
        'Path at which the person continues, such as `/console`, relative to the public address. Anything else has no effect',
        Type.String({ maxLength: 256 }),
      ),
      queryParameter('invitation', 'The secret of an invitation'),
    ],
    responses: {
      303: redirect('To the identity provider', 'Binds the login to this browser'),
      ...failures(403, 429, 500, 502, 503),
    },
  }),
  callback: route({
    operationId: 'finishOidcLogin',
    summary: 'Come back from the identity provider',
    description: 'The redirect URI that the client has at the identity provider.',
    parameters: [
      queryParameter('code', 'The code of the identity provider'),
      queryParameter('state', 'The state of the login'),
      queryParameter('iss', 'The issuer (RFC 9207)'),
      queryParameter('error', 'Why nobody was logged in (RFC 6749 section 4.1.2.1)'),
    ],
    responses: {
      303: redirect('Logged in', 'The cookie of the session'),
      ...failures(400, 403, 409, 429, 500, 502, 503),
    },
  }),
}
