import { Type } from '@sinclair/typebox'
import {
  errorBody,
  errorResponses,
  jsonBody,
  jsonResponse,
  noStoreHeader,
  noStoreResponses,
  routesWithTag,
  type SchemaOf,
  successBody,
  successOf,
} from '../shared/plugin/openapi.ts'
import type { ServiceRoute } from '../shared/plugin/plugin.ts'

/** The body of a login. */
export interface LoginRequest {
  readonly name: string
  /** At most 1,024 bytes. */
  readonly password: string
}

/** The user of a session. */
export interface SessionUser {
  readonly success: true
  readonly user: { readonly id: string; readonly name: string }
}

/** The routes of `webSession` below its prefix, for Eden. */
export type SessionRoutes = {
  get: ServiceRoute<SessionUser, 401 | 429 | 500 | 503>
  post: ServiceRoute<SessionUser, 400 | 401 | 403 | 408 | 413 | 415 | 429 | 500 | 503, { body: LoginRequest }>
  delete: ServiceRoute<{ readonly success: true }, 401 | 403 | 429 | 500 | 503>
}

const loginRequest: SchemaOf<LoginRequest> = Type.Object(
  { name: Type.String(), password: Type.String({ description: 'At most 1,024 bytes' }) },
  { title: 'LoginRequest' },
)

const sessionUser: SchemaOf<SessionUser> = successOf('SessionUser', {
  user: Type.Object({ id: Type.String(), name: Type.String() }),
})

const setCookie = (description: string) => ({
  ...noStoreHeader,
  'set-cookie': { description, required: true, schema: Type.String() },
})

const route = routesWithTag('web session')

const { 401: wrongPassword } = errorResponses(errorBody, 401)

/** Elysia options of each route. */
export const sessionDocs = {
  login: route({
    operationId: 'login',
    summary: 'Log in',
    security: [],
    requestBody: jsonBody(loginRequest),
    responses: {
      200: jsonResponse('The user', sessionUser, setCookie('The cookie of the session')),
      ...errorResponses(errorBody, 400, 403, 408, 413, 415, 429, 500, 503),
      401: { ...wrongPassword, description: 'Wrong name or password', headers: {} },
    },
  }),
  getUser: route({
    operationId: 'getSession',
    summary: 'Get the user of the session',
    responses: noStoreResponses('The user', sessionUser, 401, 429, 500, 503),
  }),
  logout: route({
    operationId: 'logout',
    summary: 'Log out',
    responses: {
      200: jsonResponse('Logged out', successBody, setCookie('Removes the cookie')),
      ...errorResponses(errorBody, 401, 403, 429, 500, 503),
    },
  }),
}
