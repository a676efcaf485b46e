import { type TObject, Type } from '@sinclair/typebox'

const status = Type.String({ description: 'waiting_user, callback_received, resolving, verified, failed or expired' })

const created = Type.Object({
  verification_id: Type.String(),
  status,
  h5_url: Type.String({
    description: 'The address that the person opens on a phone. It is a secret, and only this response contains it',
  }),
  expires_at: Type.Integer({ description: 'Seconds since 1970' }),
})

const queried = Type.Object({
  verification_id: Type.String(),
  status,
  group_id: Type.Optional(Type.String({ description: 'The LivenessFace group, once the status is verified' })),
})

const errorBody = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({ message: Type.String(), type: Type.String() }),
})

const route = (summary: string, schema: TObject, more: object = {}) => ({
  parse: 'none' as const,
  detail: {
    summary: `${summary} (web session)`,
    tags: ['face verification'],
    // These routes accept no API token.
    security: [],
    responses: {
      200: { description: 'Success', content: { 'application/json': { schema } } },
      default: {
        description: 'The gateway or the upstream rejected the request',
        content: { 'application/json': { schema: errorBody } },
      },
    },
    ...more,
  },
})

/** OpenAPI details of each route. */
export const faceDocs = {
  create: route('start a face verification', created, {
    requestBody: { required: false, content: { 'application/json': { schema: Type.Object({}) } } },
  }),
  query: route('query the status of a face verification', queried),
  callback: { detail: { hide: true } },
}
