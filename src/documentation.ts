import { openapi } from '@elysiajs/openapi'

/** `GET /openapi` for people, `GET /openapi/json` for programs. Routes describe themselves in `detail`; those without are left out. */
export const documentation = () =>
  openapi({
    path: '/openapi',
    specPath: '/openapi/json',
    documentation: {
      info: {
        title: 'sluice',
        version: '1',
        description: 'A media asset library of your own, on an upstream account shared by many.',
      },
      components: {
        securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'API token, sk-…' } },
      },
      security: [{ token: [] }],
    },
  })
