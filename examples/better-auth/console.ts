/** The console for users who log in with better-auth: its pages, the session that they ask for, and a login page. */
import { Elysia } from 'elysia'
import { consolePages } from 'sluice/console'
import { requireSameOrigin } from 'sluice/shared'
import type { openUsers } from './users.ts'

export const consoleFor = ({ auth, userOf }: Awaited<ReturnType<typeof openUsers>>, publicUrl: string) =>
  new Elysia()
    .use(consolePages({ login: '/login' }))
    .get('/login', ({ set }) => {
      set.headers['content-type'] = 'text/html; charset=utf-8'
      return loginPage
    })
    .get('/api/session', async ({ request, status }) => {
      const user = await userOf(request)
      return user ? { success: true, user: { id: user.id, name: user.name } } : status(401)
    })
    .delete('/api/session', ({ request }) => {
      requireSameOrigin(request, publicUrl)
      return auth.api.signOut({ headers: request.headers, asResponse: true })
    })

/** Stands for the login page that your app has. */
const loginPage = `<!doctype html><title>Log in</title>
<form><label>E-mail <input name="email"></label> <label>Password <input name="password" type="password"></label> <button>Log in</button></form>
<script>
  document.forms[0].onsubmit = async (event) => {
    event.preventDefault()
    const body = JSON.stringify(Object.fromEntries(new FormData(event.target)))
    const headers = { 'content-type': 'application/json' }
    const response = await fetch('/api/auth/sign-in/email', { method: 'POST', headers, body })
    if (response.ok) location.href = '/console'
  }
</script>`
