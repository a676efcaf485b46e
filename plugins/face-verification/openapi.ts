import { type TObject, Type } from '@sinclair/typebox'

const status = Type.String({ description: 'waiting_user, callback_received, resolving, verified, failed or expired' })

const created = Type.Object({
  verification_id: Type.String(),
  status,
  h5_url: Type.String({ description: 'What the person opens on a phone: a secret, shown this once' }),
  expires_at: Type.Integer({ description: 'Seconds since 1970' }),
})

const queried = Type.Object({
  verification_id: Type.String(),
  status,
  group_id: Type.Optional(Type.String({ description: 'The LivenessFace group, once verified' })),
})

const refused = Type.Object({
  success: Type.Literal(false),
  error: Type.Object({ message: Type.String(), type: Type.String() }),
})

const route = (summary: string, schema: TObject, more: object = {}) => ({
  parse: 'none' as const,
  detail: {
    summary: `${summary} (web session)`,
    tags: ['face verification'],
    // No token opens these routes.
    security: [],
    responses: {
      200: { description: 'Success', content: { 'application/json': { schema } } },
      default: {
        description: 'Refused, by the gateway or by the upstream',
        content: { 'application/json': { schema: refused } },
      },
    },
    ...more,
  },
})

/** What the documentation says of each route. */
export const openapi = {
  create: route('start a face verification', created, {
    requestBody: { required: false, content: { 'application/json': { schema: Type.Object({}) } } },
  }),
  query: route('how a face verification stands', queried),
  callback: { detail: { hide: true } },
}
