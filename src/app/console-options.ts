import type { AccountOptions } from '../../plugins/account/index.ts'
import type { ServerOidcLogin } from './oidc-login.ts'

/** The options of the server that tell which parts it has. */
export interface ConsoleParts {
  readonly video: { readonly upstream?: object | undefined }
  readonly files?: object | undefined
  readonly events: { readonly webhooks?: object | undefined }
  readonly people: Pick<AccountOptions, 'passwordLogin'>
  readonly admin?: object | undefined
  readonly usageLimits?: object | undefined
  readonly oidc?: ServerOidcLogin | undefined
  readonly mcp?: object | undefined
}

/**
 * Where the console finds the routes of the default server. One without a part has no path for it.
 *
 * @param segment the product word in the paths of the asset library
 */
export const consoleOptions = (
  segment: string,
  { video, files, events, people, admin, usageLimits, oidc, mcp }: ConsoleParts,
): NonNullable<AccountOptions['console']> => ({
  library: `/api/${segment}/proxy`,
  shares: `/api/${segment}/proxy/assets/groups`,
  consents: `/api/${segment}/proxy/assets/groups`,
  batches: `/api/${segment}/proxy/assets/batches`,
  video: video.upstream && '/api/v3',
  uploads: files && '/api/uploads',
  ...{ events: '/api/events', failureAdvice: '/api/failure-advice' },
  webhooks: events.webhooks && '/api/webhooks',
  limits: usageLimits && '/api/limits',
  documentation: '/openapi',
  mcp: mcp && '/mcp',
  admin: admin && '/api/admin',
  ...(oidc && {
    login: { address: '/api/session/oidc', label: oidc.label, form: people.passwordLogin, invitation: true },
  }),
})
