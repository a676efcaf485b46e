import type { McpOptions } from '../../plugins/mcp/index.ts'
import type { McpConfig } from '../config/mcp.ts'
import type { Config } from '../config.ts'
import type { AppOptions } from './options.ts'

/** The options of the MCP server. Its tools suggest the models that the configuration names. */
export const mcpOptions = (
  { confirmAbove }: McpConfig,
  { video, http }: Pick<Config, 'video' | 'http'>,
  options: Pick<McpOptions, 'identify' | 'secrets' | 'publicUrl'>,
): AppOptions['mcp'] => {
  const named = [...Object.values(video.modelAliases), ...Object.keys(video.slots ?? {})]
  return {
    ...options,
    confirmAbove,
    models: [...new Set(named)].filter((name) => name !== '*').slice(0, maxModels),
    maxBodyBytes: http.maxSmallBodyBytes,
  }
}

/** Models that a tool suggests. */
const maxModels = 20
