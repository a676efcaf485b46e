import { Type } from '@sinclair/typebox'
import { consentExportSchema } from '../../shared/consent/schema.ts'
import {
  errorBody,
  errorResponses,
  jsonResponse,
  noStoreHeader,
  pathParameter,
  type RouteOptions,
  routeOptions,
} from '../../shared/plugin/openapi.ts'

const page = (description: string) => ({ description, content: { 'text/html': { schema: Type.String() } } })

const failures = {
  404: page('The page, for a link that belongs to no consent, or not yet'),
  500: page('The page, when the consent cannot be read or changed now'),
}

const shown = { 200: page('The page: what the person can do now'), ...failures }

const done = {
  303: {
    description: 'It is done. The browser gets the page',
    headers: { location: { description: 'The page', required: true, schema: Type.String() } },
  },
  ...failures,
}

const secret = { parameters: [pathParameter('secret', "The secret in the person's link. It is the credential")] }

const route = (
  operationId: string,
  summary: string,
  responses: Parameters<typeof routeOptions>[0]['responses'],
  more: Pick<Parameters<typeof routeOptions>[0], 'parameters'> = secret,
): RouteOptions => routeOptions({ operationId, summary, tags: ['face verification'], security: [], ...more, responses })

/** Elysia options of the routes of persons. */
export const personDocs = {
  get: route('showConsent', 'The page on which a person withdraws a consent', shown),
  withdraw: route('withdrawOwnConsent', 'Withdraw a consent, as its person', done),
  remove: route('deleteOwnConsentedData', 'Withdraw a consent and delete everything, as its person', done),
  export: route('exportOwnConsent', 'Get a consent and its uses as a signed document, as its person', {
    200: jsonResponse('The document', consentExportSchema, noStoreHeader),
    ...errorResponses(errorBody, 404, 500),
  }),
  keys: route(
    'listConsentKeys',
    'List the public keys that verify signed consents',
    {
      200: jsonResponse(
        'A JSON Web Key Set (RFC 7517): the first key signs, all verify',
        Type.Object(
          {
            keys: Type.Array(
              Type.Object({
                kty: Type.Literal('OKP'),
                crv: Type.Literal('Ed25519'),
                x: Type.String(),
                kid: Type.String({ description: 'Thumbprint (RFC 7638)' }),
              }),
            ),
          },
          { title: 'ConsentKeys' },
        ),
        noStoreHeader,
      ),
    },
    {},
  ),
}
