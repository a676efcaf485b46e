import type { AnyElysia } from 'elysia'
import { type PublicUrl, publicBase } from '../../plugins/shared/http/origin.ts'

/**
 * `GET /` leads to the console, also behind a proxy that removes a path of the public address.
 *
 * The location is a path: the browser stays at the address that it has used.
 */
export const home =
  ({ publicUrl, console }: { readonly publicUrl: PublicUrl; readonly console: string }) =>
  <App extends AnyElysia>(app: App): App => {
    const redirect = () => {
      const { pathname } = new URL(publicBase(publicUrl))
      const location = pathname.replace(/\/$/, '') + console
      return new Response(null, { status: 307, headers: { location, 'cache-control': 'no-store' } })
    }
    app.get('/', redirect, hidden).head('/', redirect, hidden)
    return app
  }

const hidden = { detail: { hide: true } }
