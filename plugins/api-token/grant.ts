import type { Identity } from '../shared/identity/identify.ts'
import { permitsModel } from '../shared/identity/models.ts'

type Grant = Pick<Identity, 'scopes' | 'models'>

/** What a credential may do, as a text without line breaks. */
export const grantText = ({ scopes, models }: Grant): string => JSON.stringify({ scopes, models })

/** Whether a credential may still do all that it might when `grant` was made. */
export const stillGrants = (now: Grant, grant: string): boolean => {
  if (grantText(now) === grant) return true
  const { scopes, models } = JSON.parse(grant) as Grant
  const hasScopes = now.scopes === undefined || scopes?.every((scope) => now.scopes?.includes(scope))
  const hasModels = now.models === undefined || models?.every((model) => permitsModel(now.models, model))
  return hasScopes === true && hasModels === true
}
