-- The settings of a name: the kind of lock, the limit, and the pause.

local function limit_now()
  return head.pinned or head.stated or 1
end

-- The kind and a limit that no operator pinned end with the last vote and waiter.
local function drop_terms()
  if head.holders + head.waiting > 0 then return end
  head.stated, head.stated_version = nil, 0
  if not head.pinned then head.kind = '-' end
end

-- Keeps the kind and the limit of the first request. An implied limit counts like a stated one,
-- unless a limit is pinned.
local function keep_terms(want)
  head.kind = want.kind
  head.stated = head.stated or want.stated or not head.pinned and 1 or nil
end

-- What each change does, and the version that it has.
local changes = {
  limit = function(value)
    head.kind, head.stated = 's', number(value, 0, MOST_PERMITS, 'the limit')
  end,
  pin = function(value)
    head.kind, head.pinned = 's', number(value, 0, MOST_PERMITS, 'the limit')
  end,
  unpin = function() head.pinned = nil end,
  pause = function(value) head.paused = value end,
  resume = function() head.paused = nil end,
}
local version_of = {
  limit = 'stated_version', pin = 'pinned_version', unpin = 'pinned_version',
  pause = 'pause_version', resume = 'pause_version',
}

-- set VERSION WHAT VALUE. A later version of the setting stays.
local function set_line(text)
  local version, what, value = match(text, '^(%d+) (%a+) (.*)$')
  if not changes[what or ''] then refuse('SEINPAALARGUMENT', 'set cannot be read') end
  version = number(version, 0, UNBOUNDED, 'the version')
  if (what == 'limit' or what == 'pin') and (head.kind == 'm' or head.kind == 'r') then
    return words('other-kind -', head.kind, 's')
  end
  local kept = version_of[what]
  if version < head[kept] then return words('stale', head[kept]) end
  changes[what](value)
  head[kept] = version
  has_freed = true
  return words('set', limit_now())
end
