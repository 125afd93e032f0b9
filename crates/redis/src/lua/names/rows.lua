-- placeholder
local function add_rows(L) end
