import type { Emulator } from '../../src/emulator/index.ts'
import { Browser } from '../examples/browser.ts'
import type { FaultRequest, FaultWorld } from './world.ts'

/** A webhook of the person with these headers. */
export const newWebhook = async ({ ask, emulator }: FaultWorld, headers: FaultRequest['headers']): Promise<string> => {
  const body = webhookOf(emulator)
  return (await ask('POST', { as: 'session', path: '/api/webhooks', body, headers })).webhook.id
}

/** A webhook that gets nothing: its user makes no videos. */
export const webhookOf = ({ origin }: Emulator) => ({ url: `${origin}/hook`, types: ['video.succeeded'] })

/** The return of a person from the identity provider to the server, which then asks the provider who it is. */
export const newReturn = async ({ server }: FaultWorld): Promise<FaultRequest> => {
  const browser = new Browser(server.url)
  const { url } = await browser.send('GET', '/api/session/oidc', undefined, ({ pathname }) =>
    pathname.endsWith('/callback'),
  )
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  return { as: 'nobody', path: url.slice(server.url.length), headers: { cookie } }
}
