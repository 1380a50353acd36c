# One virtual machine in a resource group of its own, reachable by SSH from one address.
# The subscription comes from ARM_SUBSCRIPTION_ID, the account from `az login` or ARM_ variables.

terraform {
  required_providers {
    azurerm = {
      source  = "hashicorp/azurerm"
      version = ">= 4.0"
    }
  }
}

provider "azurerm" {
  features {
    # Everything in the group goes with it, a machine that Terraform has lost as well.
    resource_group {
      prevent_deletion_if_contains_resources = false
    }
  }
}

locals {
  tags = merge(var.tags, { created-by = "bancada" })
  # `publisher:offer:sku:version`, or the id of an image.
  image  = var.image == null ? "Debian:debian-12:12-gen2:latest" : var.image
  is_urn = length(split(":", local.image)) == 4
}

resource "azurerm_resource_group" "machine" {
  name     = var.name
  location = var.region
  tags     = local.tags

  lifecycle {
    precondition {
      condition     = var.time_limit_seconds <= 86400
      error_message = "On Azure time_limit must be at most 24h: a machine that shuts itself down is billed on, and the schedule that ends the billing is a time of day."
    }
  }
}

resource "azurerm_virtual_network" "machine" {
  name                = var.name
  location            = azurerm_resource_group.machine.location
  resource_group_name = azurerm_resource_group.machine.name
  address_space       = ["10.231.0.0/24"]
}

resource "azurerm_subnet" "machine" {
  name                 = var.name
  resource_group_name  = azurerm_resource_group.machine.name
  virtual_network_name = azurerm_virtual_network.machine.name
  address_prefixes     = ["10.231.0.0/24"]
}

resource "azurerm_network_security_group" "machine" {
  name                = var.name
  location            = azurerm_resource_group.machine.location
  resource_group_name = azurerm_resource_group.machine.name

  security_rule {
    name                       = "ssh"
    priority                   = 100
    direction                  = "Inbound"
    access                     = "Allow"
    protocol                   = "Tcp"
    source_port_range          = "*"
    source_address_prefix      = var.caller_cidr
    destination_port_range     = "22"
    destination_address_prefix = "*"
  }
}

resource "azurerm_public_ip" "machine" {
  name                = var.name
  location            = azurerm_resource_group.machine.location
  resource_group_name = azurerm_resource_group.machine.name
  allocation_method   = "Static"
  sku                 = "Standard"
}

resource "azurerm_network_interface" "machine" {
  name                = var.name
  location            = azurerm_resource_group.machine.location
  resource_group_name = azurerm_resource_group.machine.name

  ip_configuration {
    name                          = "public"
    subnet_id                     = azurerm_subnet.machine.id
    private_ip_address_allocation = "Dynamic"
    public_ip_address_id          = azurerm_public_ip.machine.id
  }
}

resource "azurerm_network_interface_security_group_association" "machine" {
  network_interface_id      = azurerm_network_interface.machine.id
  network_security_group_id = azurerm_network_security_group.machine.id
}

resource "azurerm_linux_virtual_machine" "machine" {
  name                  = var.name
  location              = azurerm_resource_group.machine.location
  resource_group_name   = azurerm_resource_group.machine.name
  size                  = var.machine_type
  network_interface_ids = [azurerm_network_interface_security_group_association.machine.network_interface_id]
  custom_data           = base64encode(var.user_data)
  priority              = var.spot ? "Spot" : "Regular"
  eviction_policy       = var.spot ? "Delete" : null
  source_image_id       = local.is_urn ? null : local.image
  tags                  = local.tags
  admin_username        = "bancada"

  disable_password_authentication = true

  admin_ssh_key {
    username   = "bancada"
    public_key = var.ssh_public_key
  }

  os_disk {
    caching              = "ReadWrite"
    storage_account_type = "StandardSSD_LRS"
    disk_size_gb         = var.disk_gigabytes
  }

  dynamic "source_image_reference" {
    for_each = local.is_urn ? [split(":", local.image)] : []
    content {
      publisher = source_image_reference.value[0]
      offer     = source_image_reference.value[1]
      sku       = source_image_reference.value[2]
      version   = source_image_reference.value[3]
    }
  }
}

# From outside the machine: it is deallocated, which ends its price per hour.
resource "azurerm_dev_test_global_vm_shutdown_schedule" "machine" {
  virtual_machine_id    = azurerm_linux_virtual_machine.machine.id
  location              = azurerm_resource_group.machine.location
  daily_recurrence_time = formatdate("hhmm", var.ends_at)
  timezone              = "UTC"
  enabled               = true

  notification_settings {
    enabled = false
  }
}

output "address" {
  value = azurerm_public_ip.machine.ip_address
}

output "user" {
  value = "bancada"
}

output "boot" {
  value = "Azure deallocates the machine at ${var.ends_at}. Its disk and its address are billed until it is destroyed."
}
