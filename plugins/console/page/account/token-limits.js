import { paths } from '../api/paths.js'
import { html } from '../controls/html.js'
import { Failure, Loading } from '../controls/placeholder.js'
import { useApi, useLoaded } from '../frame/hooks.js'
import { t } from './words.js'

/**
 * The limits that an operator has given to a token, and what is left of them. Few tokens have some, so what shows them
 * is loaded when one has.
 * @param {{ id: string, name: string }} props
 */
export const TokenLimits = ({ id, name }) => {
  const api = useApi()
  const loaded = useLoaded(
    async (signal) => {
      if (paths.limits === undefined) return undefined
      const path = `${paths.limits}?token=${encodeURIComponent(id)}`
      const [{ LimitUses }, response] = await Promise.all([import('../usage/limits.js'), api.request(path, { signal })])
      const limits = /** @type {readonly import('../usage/limits.js').Limit[]} */ (response.limits)
      return { LimitUses, limits: limits.filter(({ subject }) => subject.type === 'token') }
    },
    [id],
  )
  const shown = loaded.value
  return html`
    <${Failure} message=${loaded.error} retry=${loaded.reload} />
    ${!shown && loaded.busy && html`<${Loading} kind="rows" count=${1} />`}
    ${shown && shown.limits.length > 0 && html`<${shown.LimitUses} label=${t.tokens.limitsOf(name)} limits=${shown.limits} />`}
  `
}
